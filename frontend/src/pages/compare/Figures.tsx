import { useMemo } from "react";
import type { ComparedSide, Run } from "../../api/types";
import { changeText, factorText, signedPercent } from "../../lib/change";
import { latency, plural, short } from "../../lib/format";
import { figureRows, isWide, type FigureRow, type Sure, type Unit } from "../../model/run/compare";
import { Empty } from "../../ui/states";
import { MoreSeeds } from "./MoreSeeds";

const FORMAT: Record<Unit, (value: number) => string> = {
  ms: (value) => latency(value).join(" "),
  per_s: (value) => `${short(value)}/s`,
  count: short,
  s: (value) => `${short(value)} s`,
};

const pText = (p: number) => (p < 0.001 ? "p < 0.001" : `p ${p.toFixed(3)}`);

/** The summaries side by side, after warm-up; below each figure how it differs from the first run's, and how sure that is. */
export function Figures({ runs, sides }: { runs: Run[]; sides: (ComparedSide | undefined)[] }) {
  const rows = useMemo(() => figureRows(runs, sides), [runs, sides]);
  if (!rows.length) return <Empty title="No metrics yet">Metrics are available when a run has ended; the charts show the data so far.</Empty>;
  return (
    <>
      <div className="scroll" tabIndex={0} role="region" aria-label="Metrics, table">
        <table className="table figures">
          <thead>
            <tr>
              <th>After warm-up</th>
              {runs.map((run, at) => (
                <th key={run.id} className="num">
                  Run {run.number}
                  {isWide(sides[at]) && <small title={`Means over seeds ${sides[at].runs.map(({ seed }) => seed).join(", ")}`}>{plural(sides[at].runs.length, "seed")}</small>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.label}>
                <td>{row.label}</td>
                {row.values.map((value, at) => (
                  <td key={runs[at]?.id} className="num">
                    {value === null ? <span className="mut">–</span> : FORMAT[row.unit](value)}
                    {at > 0 && <Change row={row} at={at} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <MoreSeeds runs={runs} sides={sides} />
    </>
  );
}

function Change({ row: { changes, sure }, at }: { row: FigureRow; at: number }) {
  const change = changes[at] ?? null;
  const how = sure[at] ?? null;
  if (!how) return change === null ? null : <small>{changeText(change)}</small>;
  const told = (bound: number) => (change !== null && factorText(change) && factorText(bound)) || signedPercent(bound);
  const bounds = how.low === null || how.high === null ? "" : `${told(how.low)} to ${told(how.high)}`;
  return (
    <small className={`how ${how.distinguishable ? "sure" : ""}`} title={howText(how, bounds)}>
      <span>
        {change === null ? "" : changeText(change)}
        {bounds && how.low !== how.high && ` (${bounds})`}
      </span>
      <span>
        {how.distinguishable ? "more than chance, " : "may be chance, "}
        {pText(how.p)}
      </span>
    </small>
  );
}

const howText = ({ p, pairs }: Sure, bounds: string) =>
  [
    bounds && `95 % interval: ${bounds}`,
    `Without a real difference, chance alone would produce one at least this large in ${short(p * 100)} % of cases (${pairs ? `${plural(pairs, "seed")} in pairs` : "Welch"} t test)`,
  ]
    .filter(Boolean)
    .join("\n");
