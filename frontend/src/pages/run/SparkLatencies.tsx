import type { SparkLatency } from "../../api/types";
import { latency, plural } from "../../lib/format";
import { isNear, latenciesOf, offBy } from "../../model/run/predictions";
import { ofNumbers, TableHead } from "../../ui/TableHead";

export interface Latencies {
  predicted: SparkLatency | null;
  measured: SparkLatency | null;
}

/** How late the results of paced input were, and what the model said beforehand. */
export function SparkLatencies({ predicted, measured, warmup_s }: Latencies & { warmup_s: number }) {
  const counted = measured ?? predicted;
  if (!counted) return null;
  const when = warmup_s > 0 ? `after the warm-up of ${warmup_s} s and before the logs ended` : "before the logs ended; there was no warm-up";
  return (
    <section aria-label="Latency" data-testid="spark-latency">
      <table className="table">
        <TableHead columns={["Latency", ofNumbers("Predicted"), ofNumbers("Measured"), "Predicted is"]} />
        <tbody>
          {latenciesOf(predicted, measured).map(({ name, predicted_ms, measured_ms }) => (
            <tr key={name}>
              <td>{name}</td>
              <td className="num">{predicted_ms === null ? "–" : latency(predicted_ms).join(" ")}</td>
              <td className="num">{measured_ms === null ? "–" : latency(measured_ms).join(" ")}</td>
              <td>
                {predicted_ms !== null && measured_ms !== null && (
                  <span className={`badge ${isNear(predicted_ms, measured_ms) ? "ok" : "warn"}`}>{offBy(predicted_ms, measured_ms)}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="about mut">
        {counted.results
          ? `From the append of a result’s newest record to the commit of its micro-batch. ${plural(counted.results, "result")} that came ${when}.`
          : `No result came ${when}.`}
      </p>
    </section>
  );
}
