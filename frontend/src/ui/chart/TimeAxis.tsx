import { short } from "../../lib/format";
import { timeTicks, type Span } from "../../model/run/series";
import { GUTTER_LEFT, GUTTER_RIGHT } from "./Chart";

/** So near the end of the axis a label would be cut, half of it being wider than the gutter: shares of the axis. */
const NEAR_END = { tick: 0.02, moment: 0.06 };

/** Times under charts that share one axis, and the moment shown. */
export function TimeAxis({ span, moment_s, pinned = false }: { span: Span; moment_s: number | null; pinned?: boolean }) {
  const place = (t_s: number) => (t_s - span.from_s) / (span.to_s - span.from_s);
  const label = (t_s: number, near: number, name = "") =>
    place(t_s) > 1 - near ? { className: `${name} at-end` } : { className: name, style: { left: `${(place(t_s) * 100).toFixed(4)}%` } };
  return (
    <div className="xax" style={{ marginLeft: GUTTER_LEFT, marginRight: GUTTER_RIGHT }}>
      {timeTicks(span.to_s, 8, span.from_s).map((t_s) => (
        <span key={t_s} {...label(t_s, NEAR_END.tick)}>
          {short(t_s)}
          {t_s === 0 ? " s" : ""}
        </span>
      ))}
      {moment_s !== null && place(moment_s) >= 0 && place(moment_s) <= 1 && (
        <span {...label(moment_s, NEAR_END.moment, pinned ? "c pinned" : "c")} data-testid="moment-label">
          {moment_s.toFixed(2)} s
        </span>
      )}
    </div>
  );
}
