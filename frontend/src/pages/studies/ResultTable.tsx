import { useMemo } from "react";
import type { StudyResults } from "../../api/types";
import { plural, short } from "../../lib/format";
import { shareText, worstOf } from "../../model/document/assertions";
import { metricOf, metricTitle } from "../../model/study/metrics";
import { loadOf, pointText, valueText, type StudyDocument } from "../../model/study/study";
import { rowsOf, sortedRows } from "../../model/study/table";
import { VerdictBadge } from "../../ui/VerdictBadge";
import type { View } from "./view";

const SHOWN_MAX = 500;

/** Every point with every chosen metric, in any order; the CSV of the Export menu has the same run by run. */
export function ResultTable({
  study,
  results,
  metrics,
  view,
  point,
}: {
  study: StudyDocument;
  results: StudyResults;
  metrics: string[];
  view: View;
  point: string;
}) {
  const rows = useMemo(() => sortedRows(rowsOf(results), view.sort), [results, view.sort]);
  const axes = (study.axes ?? []).map(({ name }) => name);
  const judged = rows.some(({ assertions }) => assertions.length);
  const shares = loadOf(study) !== null && rows.some(({ share }) => share !== null);
  const head = (name: string, text: string, isNumber: boolean) => {
    const order = view.sort === name ? "ascending" : view.sort === `-${name}` ? "descending" : "none";
    return (
      <th key={name} className={isNumber ? "num" : ""} aria-sort={order}>
        <button
          title={`Sort by ${text}`}
          onClick={() => view.change({ sort: order === "none" ? name : order === "ascending" ? `-${name}` : "" })}
        >
          {text}
          {order === "none" ? "" : order === "ascending" ? "▲" : "▼"}
        </button>
      </th>
    );
  };
  return (
    <div className="scroll grow" tabIndex={0} role="region" aria-label="Results, table">
      <table className="table results" data-testid="result-table">
        <thead>
          <tr>
            <th className="num">Point</th>
            {axes.map((name) => head(name, name.replace(/_/g, " "), true))}
            {shares && head("share", "share", true)}
            {metrics.map((name) => head(name, metricTitle(metricOf(name)), true))}
            {judged && <th>Assertions</th>}
            <th className="num">Runs</th>
            <th className="num">Failed</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN_MAX).map((row) => (
            <tr key={row.key} className={row.key === point ? "on" : ""} onClick={() => view.change({ point: row.key })}>
              <td className="num">
                <button className="link" aria-label={`Show point ${pointText(row.values)}`} onClick={() => view.change({ point: row.key })}>
                  {row.point + 1}
                </button>
              </td>
              {axes.map((name) => (
                <td key={name} className="num">
                  {valueText(row.values[name])}
                </td>
              ))}
              {shares && <td className="num">{row.share === null ? "–" : `${valueText(row.share * 100)} %`}</td>}
              {metrics.map((name) => {
                const interval = row.intervals[name];
                return (
                  <td key={name} className="num">
                    {interval ? short(interval.mean) : <span className="mut">–</span>}
                    {interval && interval.low !== null && interval.high !== null && (
                      <small>
                        {short(interval.low)} to {short(interval.high)}
                      </small>
                    )}
                  </td>
                );
              })}
              {judged && (
                <td className="judged">
                  {row.assertions.map((one) => (
                    <span key={one.name} dir="auto" title={`${one.name}: ${shareText(one)}`}>
                      <VerdictBadge state={worstOf([one]) ?? "holds"} text={shareText(one)} />
                    </span>
                  ))}
                  {!row.assertions.length && <span className="mut">–</span>}
                </td>
              )}
              <td className="num">{row.runs || <span className="mut">–</span>}</td>
              <td className="num">{row.failed ? <b className="bad">{row.failed}</b> : <span className="mut">0</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN_MAX && (
        <p className="note">
          The first {SHOWN_MAX} of {plural(rows.length, "row")} in this order; the CSV has all.
        </p>
      )}
    </div>
  );
}
