/** Whether an axis is logarithmic. refusal: why it cannot be. */
export function LogSwitch({
  label,
  on,
  refusal = null,
  title = "Logarithmic axis",
  onToggle,
}: {
  label: string;
  on: boolean;
  refusal?: string | null;
  title?: string;
  onToggle: () => void;
}) {
  return (
    <label className="log-switch" title={refusal ?? title}>
      <input type="checkbox" aria-label={`${label}: logarithmic`} checked={on && refusal === null} disabled={refusal !== null} onChange={onToggle} />
      log
    </label>
  );
}
