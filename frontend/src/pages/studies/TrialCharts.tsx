import type { RefObject } from "react";
import { isActive } from "../../api/queries";
import type { StudyDetail, StudyOptimisation } from "../../api/types";
import { objectiveText, soughtTitle, whyNoBest } from "../../model/study/optimum";
import { objectivesOf } from "../../model/study/study";
import type { PlotHandle } from "../../ui/chart/Plot";
import { Empty } from "../../ui/states";
import { HistoryChart, OUTCOMES } from "./HistoryChart";
import type { View } from "./view";

/** Each objective trial by trial. */
export function TrialCharts({
  study,
  optimisation,
  view,
  point,
  plots,
}: {
  study: StudyDetail;
  optimisation: StudyOptimisation;
  view: View;
  point: string;
  plots: RefObject<(PlotHandle | null)[]>;
}) {
  const { trials, best } = optimisation;
  const why = whyNoBest(study.document, optimisation, isActive(study));
  const positive = (at: number) => trials.every(({ objectives }) => typeof objectives[at] !== "number" || objectives[at] > 0);
  return (
    <>
      <ul className="legend" aria-label="Marks">
        {OUTCOMES.map(({ outcome, token, words }) => (
          <li key={outcome}>
            <svg width="12" height="12" aria-hidden="true" style={{ color: `var(${token})` }}>
              {outcome === "no value" ? (
                <path d="M2 2l8 8M10 2l-8 8" stroke="currentColor" strokeWidth="2" />
              ) : (
                <circle cx="6" cy="6" r="4" fill={outcome === "counts" ? "currentColor" : "none"} stroke="currentColor" strokeWidth="2" />
              )}
            </svg>
            {words}
          </li>
        ))}
        <li>
          <svg width="26" height="10" aria-hidden="true">
            <path d="M0 8H13V2H26" style={{ stroke: "var(--s2)", strokeWidth: 2, fill: "none" }} />
          </svg>
          best so far
        </li>
        {why && <li className="mut">{why}</li>}
      </ul>
      <div className="charts">
        {objectivesOf(study.document).map((objective, at) => {
          const title = soughtTitle(study.document, objective.metric);
          return (
            <figure key={at} data-testid={`history-${objective.metric}`} data-trials={trials.filter(({ ended }) => ended).length}>
              <figcaption>
                <b>{title}</b>
                <span className="mut">
                  {objectiveText(study.document, objective).split(" ")[0]} the {objective.over_seeds === "worst" ? "worst" : "mean"} of the seeds
                  {best.length > 1 ? "; green: no other point beats them in all objectives" : best.length ? "; green: the best" : ""}
                </span>
              </figcaption>
              <div className="plot">
                {trials.some(({ ended }) => ended) ? (
                  <HistoryChart
                    trials={trials}
                    objective={objective}
                    at={at}
                    title={title}
                    logY={(view.log?.y ?? false) && positive(at)}
                    best={best}
                    point={point}
                    onPoint={(next) => view.change({ point: next })}
                    handle={(handle) => {
                      plots.current[at] = handle;
                      return () => {
                        plots.current[at] = null;
                      };
                    }}
                  />
                ) : (
                  <Empty title="No trial has ended yet">Each appears here when its runs have ended.</Empty>
                )}
              </div>
            </figure>
          );
        })}
      </div>
    </>
  );
}
