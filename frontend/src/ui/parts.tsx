/** Where time went, as bars of parts in their colours and patterns; ui/patterns.css has how they look. */
import { latency } from "../lib/format";
import { SUM_PARTS } from "../model/run/parts";
import "./chart/patterns.css";

/** Of a length in ns. */
export const time = (ns: number) => (ns ? latency(ns / 1e6).join(" ") : "0");

/** All parts in words, a line each. */
export const partsText = (parts: number[]) => SUM_PARTS.map(({ label }, at) => `${label} ${time(parts[at] ?? 0)}`).join("\n");

/** Which part is which. used: those that some bar has. */
export function PartKeys({ used }: { used: boolean[] }) {
  return (
    <div className="lg keys-of">
      {SUM_PARTS.map(
        ({ id, label, means, pattern, token }, at) =>
          used[at] && (
            <span key={id} title={means}>
              <i className={`swatch pat ${pattern}`} style={{ "--of": `var(${token})` } as React.CSSProperties} />
              {label}
            </span>
          ),
      )}
    </div>
  );
}

/** Lengths of the parts, in the order of SUM_PARTS; the longest bar fills its place. */
export function PartBar({ parts, longest }: { parts: number[]; longest: number }) {
  const whole = parts.reduce((sum, ns) => sum + ns, 0);
  return (
    <span className="sums" style={{ width: `${(100 * whole) / longest}%` }}>
      {SUM_PARTS.map(({ id, pattern, token }, at) => (
        <i key={id} className={`pat ${pattern}`} style={{ "--of": `var(${token})`, flexGrow: parts[at] ?? 0 } as React.CSSProperties} />
      ))}
    </span>
  );
}
