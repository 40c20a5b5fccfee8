import { useMemo, type RefObject } from "react";
import type { StudyDocument, StudyResults } from "../../api/types";
import { areWide, whyNoLog, type ChartedLine, type Dimension } from "../../model/study/chart";
import { FOUND, metricOf, metricTitle } from "../../model/study/metrics";
import { isDrawn } from "../../model/study/study";
import { SeriesSample, type PlotHandle } from "../../ui/chart/Plot";
import { Empty } from "../../ui/states";
import { HeatMap } from "./HeatMap";
import { LineChart } from "./LineChart";
import type { View } from "./view";

/** As many lines have a colour, dash and marker of their own. */
const LINES_MAX = 6;

/** A chart for each metric, as lines or as a heat map, with one legend. */
export function ResultCharts({
  document,
  results,
  charts,
  dimensions,
  view,
  point,
  plots,
}: {
  document: StudyDocument;
  results: StudyResults;
  charts: { metric: string; lines: ChartedLine[] }[];
  dimensions: Dimension[];
  view: View;
  point: string;
  plots: RefObject<(PlotHandle | null)[]>;
}) {
  const { across, way } = view;
  const labels = useMemo(() => [...new Set(charts.flatMap(({ lines }) => lines.map(({ label }) => label)))], [charts]);
  const shown = useMemo(() => labels.slice(0, LINES_MAX), [labels]);
  const markersOnly = isDrawn(document);
  const logX = (view.log?.x ?? across.logarithmic) && !whyNoLog(across, charts.flatMap(({ lines }) => lines));
  return (
    <>
      {way === "lines" && labels.some(Boolean) && (
        <ul className="legend" aria-label="Lines">
          {shown.map(
            (label, at) =>
              label && (
                <li key={label}>
                  <SeriesSample at={at} markersOnly={markersOnly} />
                  {label}
                </li>
              ),
          )}
          {labels.length > LINES_MAX && <li className="mut">{labels.length - LINES_MAX} more: fix one of the axes to see them</li>}
        </ul>
      )}
      <div className={`charts ${charts.length > 2 ? "many" : ""}`}>
        {charts.map(({ metric, lines }, at) => {
          const about = metricOf(metric);
          const title = metric === FOUND ? "Sustainable load" : metricTitle(about);
          const ref = (handle: PlotHandle | null) => {
            plots.current[at] = handle;
            return () => {
              plots.current[at] = null;
            };
          };
          const logY = view.log ? view.log.y : areWide(lines);
          const none = way === "lines" ? !lines.length : metric === FOUND && !results.found.length;
          return (
            <figure key={metric} data-testid={`chart-${metric}`} data-points={lines.reduce((sum, { spots: own }) => sum + own.length, 0)}>
              <figcaption>
                <b>{title}</b>
                <span className="mut">
                  {metric === FOUND ? "median of the seeds" : "mean of the seeds"}
                  {way === "lines" && (metric === FOUND ? ", bars: minimum to maximum" : ", bars: 95 % interval")}
                  {way === "lines" && logY ? "; logarithmic" : ""}
                </span>
              </figcaption>
              <div className="plot">
                {none ? (
                  <Empty title={metric === FOUND && across.of !== "axis" ? "Choose an axis for x" : "No values yet"}>
                    {metric === FOUND && across.of !== "axis" ? "The load is the result, so it cannot also be the x axis." : ""}
                  </Empty>
                ) : way === "heat" ? (
                  <HeatMap
                    study={document}
                    results={results}
                    metric={metric}
                    title={title}
                    view={view}
                    dimensions={dimensions}
                    handle={ref}
                  />
                ) : (
                  <LineChart
                    lines={lines}
                    labels={shown}
                    title={title}
                    across={across}
                    logX={logX}
                    logY={logY}
                    markersOnly={markersOnly}
                    point={point}
                    onPoint={(next) => view.change({ point: next })}
                    handle={ref}
                  />
                )}
              </div>
            </figure>
          );
        })}
      </div>
    </>
  );
}
