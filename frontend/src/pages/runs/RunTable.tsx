import { useRef } from "react";
import { Link } from "react-router";
import type { Run } from "../../api/types";
import { Icon } from "../../ui/Icon";
import type { Column } from "./columns";

/** Runs as rows that can be chosen; Shift chooses all from the last one. The order is the server's, over all runs, not only those shown. */
export function RunTable({
  runs,
  columns,
  sort,
  onSort,
  chosen,
  onChoose,
  onTag,
}: {
  runs: Run[];
  columns: Column[];
  sort: string;
  onSort: (sort: string) => void;
  chosen: ReadonlySet<string>;
  onChoose: (ids: string[], on: boolean) => void;
  onTag: (tag: string) => void;
}) {
  const all = runs.every((run) => chosen.has(run.id));
  const last = useRef("");
  const choose = (run: Run, on: boolean, range: boolean) => {
    const from = range ? runs.findIndex((one) => one.id === last.current) : -1;
    const to = runs.indexOf(run);
    const [first, end] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
    onChoose(runs.slice(first, end + 1).map((one) => one.id), on);
    last.current = run.id;
  };
  return (
    <table className="table runs">
      <thead>
        <tr>
          <th className="choose-cell">
            <label className="tick" title={all ? "Choose none" : "Choose all on this page"}>
              <input
                type="checkbox"
                aria-label="Choose all on this page"
                checked={all}
                onChange={() => onChoose(runs.map((run) => run.id), !all)}
              />
            </label>
          </th>
          {columns.map(({ label, sort: order, number }) => (
            <th key={label} className={number ? "num" : ""} aria-sort={order && label !== "Created" ? ariaSort(sort, order) : undefined}>
              {order ? (
                <button onClick={() => onSort(nextSort(sort, order))} title={`Sort by ${label.toLowerCase()}`}>
                  {label}
                  {ariaSort(sort, order) === "none" || label === "Created" ? "" : sort.startsWith("-") ? "▼" : "▲"}
                </button>
              ) : (
                label
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.id} data-testid={`run-${run.number}`} className={chosen.has(run.id) ? "chosen" : ""}>
            <td className="choose-cell">
              <label className="tick">
                <input
                  type="checkbox"
                  aria-label={`Choose run ${run.number}`}
                  checked={chosen.has(run.id)}
                  onChange={(event) => choose(run, event.target.checked, (event.nativeEvent as MouseEvent).shiftKey)}
                />
              </label>
            </td>
            {columns.map(({ id, label, number, cell }) => (
              <td key={label} className={`${number ? "num" : ""} c-${id}`}>
                {id === "tags" ? <Tags run={run} onTag={onTag} /> : cell(run)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Given by people, and whether they have written something about it. */
function Tags({ run, onTag }: { run: Run; onTag: (tag: string) => void }) {
  return (
    <span className="tags">
      {run.tags.map((tag) => (
        <button key={tag} className="tag" title={`Show runs tagged “${tag}”`} onClick={() => onTag(tag)}>
          <Icon name="flag" small />
          <span className="ell">{tag}</span>
        </button>
      ))}
      {run.said && (
        <Link className="noted" to={`/runs/${run.id}?panel=notes`} title={run.said} aria-label={`Notes on run ${run.number}`}>
          <Icon name="book" small />
        </Link>
      )}
    </span>
  );
}

const ariaSort = (sort: string, order: string) =>
  sort === order ? "ascending" : sort === `-${order}` ? "descending" : "none";

/** Down, then up, then as at first. */
const nextSort = (sort: string, order: string) => (sort === `-${order}` ? order : sort === order && order !== "number" ? "" : `-${order}`);
