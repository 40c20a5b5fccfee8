import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { studyResultsQuery } from "../../api/queries";
import type { StudyDetail } from "../../api/types";
import { short } from "../../lib/format";
import { MEASURED, predictedCosts } from "../../model/study/predicted";
import { pointText } from "../../model/study/study";
import { ofNumbers, TableHead } from "../../ui/TableHead";

const METRICS = Object.values(MEASURED);

/** What models predicted of each placement before it was run, and what came true. */
export function PredictedPanel({ study, predictions }: { study: StudyDetail; predictions: NonNullable<StudyDetail["predictions"]> }) {
  const { data: results } = useQuery(studyResultsQuery(study.id, METRICS));
  const costs = useMemo(
    () => (results ? predictedCosts(predictions, results, (values) => String(values.candidate ?? pointText(values))) : []),
    [predictions, results],
  );
  return (
    <section className="panel" aria-label="Predicted and measured" data-testid="predicted">
      <div className="ph">
        <h2>Predicted and measured</h2>
        <span className="mut">models “{predictions.models}”</span>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Predicted and measured, tables">
        {costs.map(({ goal, title, rows, median }) => (
          <table key={goal} className="table predicted">
            <caption>
              {title}
              {median !== null && <span className="mut">, off by {short(median)} times at the median</span>}
            </caption>
            <TableHead columns={["Candidate", ofNumbers("Predicted"), ofNumbers("Measured"), ofNumbers("Off by")]} />
            <tbody>
              {rows.map(({ point, label, predicted, range, measured, off }) => (
                <tr key={point}>
                  <td>{label}</td>
                  <td className="num" title={range && `From the lowest to the highest prediction of the models: ${range}`}>
                    {predicted}
                  </td>
                  <td className="num">{measured || "not yet"}</td>
                  <td className="num" title="How many times as large one is as the other">
                    {off === null ? "–" : `${short(off)} ×`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
    </section>
  );
}
