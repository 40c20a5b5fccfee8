import { Link } from "react-router";
import type { AnalysisKind, Answer, AnswerRow, Column } from "../../api/analysis";
import { latency, short } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { drawable, isNumber } from "../../model/run/analysis";
import { Icon } from "../../ui/Icon";
import { AnswerChart } from "./AnswerChart";

const FIRST_METRIC = "p99_ms";

/** The answer as a chart of one metric, above its rows. What is drawn stands in the address. */
export function AnswerPanel({ kind, answer }: { kind: AnalysisKind; answer: Answer }) {
  const [url, change] = useUrlState(["metric"]);
  const metrics = drawable(kind, answer);
  const metric = [url.metric, FIRST_METRIC, metrics[0]?.name].find((name) => metrics.some((one) => one.name === name)) ?? "";
  return (
    <section className="panel answer" aria-label="Answer" data-testid="answer">
      {metrics.length > 0 && (
        <div className="answer-tools">
          <label className="pick">
            Metric
            <span className="in">
              <select value={metric} onChange={(event) => change({ metric: event.target.value })}>
                {metrics.map(({ name, title, unit }) => (
                  <option key={name} value={name}>
                    {title}
                    {unit && `, ${unit}`}
                  </option>
                ))}
              </select>
              <Icon name="down" />
            </span>
          </label>
        </div>
      )}
      <AnswerChart kind={kind} answer={answer} metric={metric} about={metrics.find(({ name }) => name === metric)} />
      <AnswerTable answer={answer} />
    </section>
  );
}

function AnswerTable({ answer: { columns, rows } }: { answer: Answer }) {
  return (
    <div className="scroll grow" tabIndex={0} role="region" aria-label="Answer, table">
      <table className="table rows" data-testid="answer-table">
        <thead>
          <tr>
            {columns.map(({ name, title, unit }) => (
              <th key={name} className={isText(name, rows) ? "" : "num"}>
                {title}
                {unit && <small> {unit}</small>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((column) => (
                <td key={column.name} className={isText(column.name, rows) ? "" : "num"}>
                  <CellOf column={column} row={row} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const isText = (name: string, rows: AnswerRow[]) => rows.some((row) => typeof row[name] === "string");

function CellOf({ column: { name }, row }: { column: Column; row: AnswerRow }) {
  const value = row[name];
  if (name === "number" && typeof row.run === "string") return <Link to={`/runs/${row.run}`}>#{String(value)}</Link>;
  if (isNumber(value)) {
    const [low, high] = ["low", "high"].map((side) => row[name.replace(/_ms$/, `_${side}_ms`)]);
    const bounded = name.endsWith("_ms") && isNumber(low) && isNumber(high) && Number(row.cut_frames) > 0;
    return (
      <span title={bounded ? `between ${latency(low).join(" ")} and ${latency(high).join(" ")}: ${String(row.cut_frames)} frames are cut` : String(value)}>
        {name === "seed" ? String(value) : name === "p" || name === "rank_p" ? probability(value) : name === "greater" ? `${Math.round(value * 100)} %` : short(value)}
        {bounded && <i className="cut">±</i>}
      </span>
    );
  }
  return typeof value === "string" ? <>{value}</> : <span className="mut">–</span>;
}

const LEAST_SHOWN = 0.001;
const probability = (value: number) => (value < LEAST_SHOWN ? "< 0.001" : value.toFixed(3));
