import { useMemo } from "react";
import type { Run } from "../api/types";
import { figureRows, type Unit } from "../model/compare";
import { latency, short } from "../ui/format";
import { Empty } from "../ui/states";

const FORMAT: Record<Unit, (value: number) => string> = {
  ms: (value) => latency(value).join(" "),
  per_s: (value) => `${short(value)}/s`,
  count: short,
  s: (value) => `${short(value)} s`,
};

/** A change of less than a twentieth of a per cent is told as none, one by several times as a factor. */
const SAME = 0.0005;
const FACTOR_FROM = 3;
function changeText(change: number): string {
  const ratio = 1 + change;
  if (Math.abs(change) < SAME) return "same";
  if (ratio >= FACTOR_FROM) return `× ${short(ratio)}`;
  if (ratio > 0 && ratio <= 1 / FACTOR_FROM) return `÷ ${short(1 / ratio)}`;
  return `${change > 0 ? "+" : "−"}${short(Math.abs(change) * 100)} %`;
}

/** The summaries side by side, after warm-up; below each figure how it differs from the first run's. */
export function Figures({ runs }: { runs: Run[] }) {
  const rows = useMemo(() => figureRows(runs), [runs]);
  return (
    <section className="panel" aria-label="Figures" data-testid="figures">
      <div className="ph">
        <h2>Figures</h2>
        <span className="mut">after warm-up, against run {runs[0]?.number}</span>
      </div>
      {rows.length ? (
        <div className="scroll" tabIndex={0} role="region" aria-label="Figures, table">
          <table className="table figures">
            <thead>
              <tr>
                <th>Figure</th>
                {runs.map((run) => (
                  <th key={run.id} className="num">
                    Run {run.number}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ label, unit, values, changes }) => (
                <tr key={label}>
                  <td>{label}</td>
                  {values.map((value, at) => {
                    const change = changes[at];
                    return (
                      <td key={runs[at]?.id} className="num">
                        {value === null ? <span className="mut">–</span> : FORMAT[unit](value)}
                        {at > 0 && change !== null && change !== undefined && <small>{changeText(change)}</small>}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <Empty title="No figures yet">They come when a run has ended; the charts show what there is.</Empty>
      )}
    </section>
  );
}
