/** Leads through a list that is longer than a page; nothing for one that is not. The offset stands in the address, empty at the start. */
export function Pager({
  offset,
  size,
  count,
  onOffset,
}: {
  offset: number;
  size: number;
  count: number;
  onOffset: (offset: string) => void;
}) {
  if (count <= size) return null;
  const first = offset === 0;
  const last = offset + size >= count;
  return (
    <div className="toolbar">
      <span className="mut small">
        {offset + 1} to {Math.min(count, offset + size)} of {count}
      </span>
      <span className="grow" />
      <button
        className="btn"
        disabled={first}
        title={first ? "This is the first page" : ""}
        onClick={() => onOffset(String(Math.max(0, offset - size) || ""))}
      >
        Previous
      </button>
      <button className="btn" disabled={last} title={last ? "This is the last page" : ""} onClick={() => onOffset(String(offset + size))}>
        Next
      </button>
    </div>
  );
}
