import { stretches } from "../../model/run/checkpoints";
import type { Span } from "../../model/run/series";
import { shareStopped, type Stop } from "../../model/run/stops";
import { Strip, STRIP_WIDTH } from "./Strip";

const MEANS = "A queue above the high mark stops all spouts, until every queue is below the low mark.";

/** Storm's switch over time: dark where it stopped all spouts. */
export function Stops({ stops, span, head_s }: { stops: readonly Stop[]; span: Span; head_s: number }) {
  const seen: Span = { from_s: span.from_s, to_s: Math.min(span.to_s, Math.max(head_s, span.from_s)) };
  const count = stops.filter((stop) => stop.to_s > seen.from_s && stop.from_s < seen.to_s).length;
  const share = shareStopped(stops, seen) * 100;
  const words = `Spouts stopped ${count} ${count === 1 ? "time" : "times"}, ${share < 10 ? share.toFixed(1) : Math.round(share)} % of the time shown`;
  return (
    <Strip id="stops" words={words} means={MEANS} height={8}>
      {stretches([...stops], span, STRIP_WIDTH, head_s).map(([x, width]) => (
        <rect key={x} x={x} width={width} height={8} />
      ))}
    </Strip>
  );
}
