import type { AnalysisKind, Bounded, Pooled } from "../../api/analysis";
import { latency, short } from "../../lib/format";

const PERCENTILES = ["p50", "p95", "p99", "max"] as const;

/** Percentiles of the samples of many runs together, each with the bounds between which that of the raw samples lies. */
export function PooledTable({ kind, pooled }: { kind: AnalysisKind; pooled: Pooled[] }) {
  return (
    <section className="panel pooled" aria-label="All samples together" data-testid="pooled">
      <div className="ph">
        <h2>All samples together</h2>
        <span className="mut">latency, with the bounds of the raw samples</span>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Percentiles of all samples">
        <table className="table">
          <thead>
            <tr>
              {kind !== "summaries" && <th>{kind === "comparison" ? "Side" : "Group"}</th>}
              <th className="num">Runs</th>
              <th className="num">Samples</th>
              {PERCENTILES.map((name) => (
                <th key={name} className="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {pooled.map((row) => (
              <tr key={String(row.group)}>
                {kind !== "summaries" && <td>{String(row.group)}</td>}
                <td className="num">{row.runs.toLocaleString("en-US")}</td>
                <td className="num">{short(row.samples)}</td>
                {PERCENTILES.map((name) => (
                  <td key={name} className="num">
                    <Within value={row[name]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Within({ value }: { value: Bounded | null }) {
  if (!value) return <span className="mut">–</span>;
  return (
    <>
      {latency(value.ms).join(" ")}
      <small>
        {latency(value.low_ms).join(" ")} to {latency(value.high_ms).join(" ")}
      </small>
    </>
  );
}
