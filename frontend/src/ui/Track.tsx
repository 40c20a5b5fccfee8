/** How far something is, as a bar. share: 0 to 1. label: of what, for a screen reader; without one the words beside it say the same. */
export function Track({ share, label }: { share: number; label?: string }) {
  const percent = Math.round(share * 100);
  return (
    <span className="track" {...(label ? { role: "progressbar", "aria-label": label, "aria-valuenow": percent } : { "aria-hidden": true })}>
      <i style={{ width: `${percent}%` }} />
    </span>
  );
}
