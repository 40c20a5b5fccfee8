/** A small line of values at equal intervals, on a logarithmic scale; a gap where there is none. */
const WIDTH = 72;
const HEIGHT = 18;
const PAD = 2;

export function Sparkline({ values, label }: { values: readonly (number | null)[]; label: string }) {
  return (
    <svg className="sparkline" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <path d={pathOf(values)} fill="none" stroke="currentColor" strokeWidth="1.25" strokeLinejoin="round" strokeLinecap="round" />
    </svg>
  );
}

/** The path within the frame; a value alone between gaps is a dot. */
export function pathOf(values: readonly (number | null)[]): string {
  const logs = values.map((value) => (value !== null && value > 0 ? Math.log10(value) : null));
  const known = logs.filter((value) => value !== null);
  if (!known.length) return "";
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (at: number) => PAD + (values.length > 1 ? (at / (values.length - 1)) * (WIDTH - 2 * PAD) : (WIDTH - 2 * PAD) / 2);
  // Less than a factor of two is a flat line: chance, not a shape.
  const reach = Math.max(high - low, Math.log10(2));
  const middle = (high + low) / 2;
  const y = (value: number) => HEIGHT / 2 - ((value - middle) / reach) * (HEIGHT - 2 * PAD);
  return logs
    .map((value, at) => {
      if (value === null) return "";
      const here = `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      const isFirst = at === 0 || logs[at - 1] === null;
      const isAlone = isFirst && (logs[at + 1] ?? null) === null;
      return `${isFirst ? "M" : "L"}${here}${isAlone ? "h.1" : ""}`;
    })
    .join("");
}
