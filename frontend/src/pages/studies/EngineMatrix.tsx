import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { studyResultsQuery } from "../../api/queries";
import type { Json, Kind, StudyDetail } from "../../api/types";
import { short } from "../../lib/format";
import { COMPARED, matrixOf } from "../../model/study/engines";
import { loadOf, valueText } from "../../model/study/study";
import { Icon } from "../../ui/Icon";
import { Failure, Loading } from "../../ui/states";

/** Which engine? Every criterion for every engine, computed from what was measured. */
export function EngineMatrix({ study, kinds }: { study: StudyDetail; kinds: readonly Kind[] }) {
  const { data: results, error, refetch } = useQuery(studyResultsQuery(study.id, COMPARED));
  const matrix = useMemo(() => (results ? matrixOf(study.document, results) : null), [study.document, results]);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!matrix) return <Loading />;
  const titles = matrix.engines.map((engine) => titleOf(engine, kinds));
  const conditions = matrix.rows.some(({ condition }) => condition);
  return (
    <div className="scroll grow" tabIndex={0} role="region" aria-label="Engines compared">
      <table className="table matrix" data-testid="engine-matrix">
        <thead>
          <tr>
            <th>What matters</th>
            {conditions && <th>With</th>}
            {titles.map((title) => (
              <th key={title} className="num">
                {title}
              </th>
            ))}
            <th>Best</th>
          </tr>
        </thead>
        <tbody>
          {matrix.rows.map(({ title, means, condition, unit, cells, best }) => (
            <tr key={`${condition} ${title}`}>
              <td title={means}>
                {title}
                {unit && <span className="mut">, {unit}</span>}
              </td>
              {conditions && <td className="mut">{condition}</td>}
              {cells.map((cell, at) => (
                <td key={titles[at]} className={at === best ? "num best" : "num"}>
                  {cell ? short(cell.value) : <span className="mut">–</span>}
                  {cell && cell.low !== null && cell.high !== null && cell.low < cell.high && (
                    <small>
                      {short(cell.low)} to {short(cell.high)}
                    </small>
                  )}
                </td>
              ))}
              <td>
                {best !== null ? (
                  <span className="badge ok">
                    <Icon name="checkc" small />
                    {titles[best]}
                  </span>
                ) : cells.some((cell) => cell === null) ? (
                  <span className="mut">not known yet</span>
                ) : (
                  <span className="mut" title="The best differs from another by less than the seeds do, or than the search can tell">
                    too close to call
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="note">
        The engines are models, each with one price list.
        {loadOf(study.document) && " Latencies are those at shares of the load that the engine itself sustains."}
      </p>
    </div>
  );
}

/** "Spark Streaming 2.0, batch 2" */
function titleOf(engine: Json, kinds: readonly Kind[]): string {
  const { kind, ...settings } = engine as { [name: string]: Json };
  const title = kinds.find((one) => one.kind === kind)?.title ?? valueText(kind);
  return [title, ...(Object.keys(settings).length ? [valueText(settings)] : [])].join(", ");
}
