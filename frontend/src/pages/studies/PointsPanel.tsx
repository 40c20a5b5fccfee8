import { useEffect, useMemo, useRef } from "react";
import type { StudyResults } from "../../api/types";
import { plural, short } from "../../lib/format";
import { scrollInList } from "../../lib/scrolling";
import { metricOf, metricTitle } from "../../model/study/metrics";
import { namedAxes, pointText, valueText, type StudyDocument } from "../../model/study/study";
import { rowsOf } from "../../model/study/table";

const SHOWN_MAX = 300;

/** The points as a list: their values and the first metric. One of them is looked at closely. */
export function PointsPanel({
  study,
  results,
  metric,
  best,
  point,
  onPoint,
}: {
  study: StudyDocument;
  results: StudyResults;
  metric: string;
  /** Points that an optimisation found to be the best. */
  best: readonly number[];
  point: string;
  onPoint: (point: string) => void;
}) {
  const rows = useMemo(() => rowsOf(results), [results]);
  const axes = namedAxes(study).map(({ name }) => name);
  const shares = rows.some(({ share }) => share !== null);
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    scrollInList(body.current?.querySelector(".on"));
  }, [point]);
  return (
    <section className="panel" aria-label="Points" data-testid="points">
      <div className="ph">
        <h2>Points</h2>
        <span className="mut">{rows.length > SHOWN_MAX ? `the first ${SHOWN_MAX} of ${rows.length}` : plural(rows.length, "point")}</span>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Points, table">
        <table className="table points">
          <thead>
            <tr>
              {axes.map((name, at) => (
                <th key={name} className={at ? "num" : ""}>
                  {name.replace(/_/g, " ")}
                </th>
              ))}
              {!axes.length && <th>Point</th>}
              {shares && <th className="num">share</th>}
              <th className="num">{metric ? metricTitle(metricOf(metric)) : ""}</th>
            </tr>
          </thead>
          <tbody ref={body}>
            {rows.slice(0, SHOWN_MAX).map((row) => {
              const interval = row.intervals[metric];
              return (
                <tr key={row.key} className={row.key === point ? "on" : ""} aria-selected={row.key === point} onClick={() => onPoint(row.key)}>
                  {(axes.length ? axes : [""]).map((name, at) => (
                    <td key={name} className={at ? "num" : ""}>
                      {at ? (
                        valueText(row.values[name])
                      ) : (
                        <button className="link" aria-label={`Show point ${pointText(row.values)}`} onClick={() => onPoint(row.key)}>
                          {name ? valueText(row.values[name]) : "unchanged"}
                        </button>
                      )}
                    </td>
                  ))}
                  {shares && <td className="num">{row.share === null ? "–" : `${valueText(row.share * 100)} %`}</td>}
                  <td className="num">
                    {best.includes(row.point) && <small className="good">best</small>}
                    {interval ? short(interval.mean) : <span className="mut">–</span>}
                    {row.failed > 0 && <small className="bad">{row.failed} failed</small>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
