import { useMemo, type RefObject } from "react";
import { isActive } from "../../api/queries";
import type { StudyDetail, StudyOptimisation, StudyResults } from "../../api/types";
import { chartLines, isWide, telling, valuesAlong, whyNoCells, type Dimension } from "../../model/study/chart";
import { FOUND, metricOf, metricTitle } from "../../model/study/metrics";
import { objectiveText, soughtTitle, whyNoBest } from "../../model/study/optimum";
import { isDrawn, isNumeric, isOptimised, loadOf, objectivesOf } from "../../model/study/study";
import { SeriesSample, type PlotHandle } from "../../ui/chart/Plot";
import { Icon } from "../../ui/Icon";
import { Empty } from "../../ui/states";
import { HeatMap } from "./HeatMap";
import { HistoryChart, OUTCOMES } from "./HistoryChart";
import { LineChart } from "./LineChart";
import { MetricMenu } from "./MetricMenu";
import { ResultTable } from "./ResultTable";
import { usualWay, type View, type Way } from "./view";

const WAYS: [way: Way, label: string][] = [
  ["lines", "Lines"],
  ["heat", "Heat map"],
  ["table", "Table"],
];
const OPTIMISED: [way: Way, label: string][] = [
  ["history", "Trials"],
  ["lines", "Slices"],
  ["table", "Table"],
];
const EACH: [value: string, text: string] = ["", "a line each"];
/** As many lines have a colour, dash and marker of their own. */
export const LINES_MAX = 6;

/** What was found, as lines, as a heat map or as a table; a chart for each metric, with one legend. */
export function ResultPanel({
  study,
  results,
  optimisation,
  metrics,
  dimensions,
  view,
  point,
  plots,
}: {
  study: StudyDetail;
  results: StudyResults;
  /** Of a study that optimises, once it is known. */
  optimisation: StudyOptimisation | undefined;
  metrics: string[];
  dimensions: Dimension[];
  view: View;
  point: string;
  plots: RefObject<(PlotHandle | null)[]>;
}) {
  const { document } = study;
  const { across, held, way } = view;
  const searches = loadOf(document) !== null;
  const numericAxes = (document.axes ?? []).filter(isNumeric).map(({ name }) => name);
  const others = telling(document, dimensions, across.name, metrics.find((name) => name !== FOUND) ?? FOUND).filter(
    ({ name }) => way !== "heat" || name !== view.up,
  );
  const charts = useMemo(
    () => metrics.map((metric) => ({ metric, lines: chartLines(document, results, { metric, across: across.name, held }) })),
    [document, results, metrics, across.name, held],
  );
  const labels = useMemo(() => [...new Set(charts.flatMap(({ lines }) => lines.map(({ label }) => label)))], [charts]);
  const shown = useMemo(() => labels.slice(0, LINES_MAX), [labels]);
  const markersOnly = isDrawn(document);
  const ways = isOptimised(document) ? OPTIMISED : WAYS;
  const wideX = across.logarithmic;
  const spots = charts.flatMap(({ lines }) => lines.flatMap((line) => line.spots));
  const log = { x: view.log?.x ?? wideX, y: view.log?.y ?? false };
  const noLogX = !across.numeric || spots.some(({ x }) => typeof x === "number" && x <= 0);
  return (
    <section className="panel found-panel" aria-label="Results" data-testid="results">
      <div className="found-tools">
        <div className="seg" role="radiogroup" aria-label="Show as">
          {ways.map(([value, label]) => {
            const why = value === "heat" ? whyNoCells(document) : "";
            return (
              <label key={value} title={why} className={why ? "off" : ""}>
                <input
                  type="radio"
                  name="way"
                  disabled={Boolean(why)}
                  checked={way === value}
                  onChange={() => view.change({ view: value === usualWay(document) ? "" : value })}
                />
                {label}
              </label>
            );
          })}
        </div>
        {way === "history" ? (
          <span className="pick" role="group" aria-label="Logarithmic axes">
            log
            <LogSwitch label="y" on={view.log?.y ?? false} why="" onChange={(y) => view.setLog({ x: false, y })} />
          </span>
        ) : (
          <MetricMenu known={study.metrics} searches={searches} chosen={metrics} onChange={(names) => view.change({ metrics: names.join(",") })} />
        )}
        {(way === "lines" || way === "heat") && (
          <>
            <Choice
              label="across"
              value={across.name}
              onChange={(x) => view.change({ x, log: "" })}
              options={dimensions
                .filter(({ name }) => way !== "heat" || numericAxes.includes(name))
                .map(({ name, title }): [string, string] => [name, title])}
            />
            {way === "heat" && (
              <Choice
                label="up"
                value={view.up}
                onChange={(up) => view.change({ up })}
                options={dimensions
                  .filter(({ name }) => numericAxes.includes(name) && name !== across.name)
                  .map(({ name, title }): [string, string] => [name, title])}
              />
            )}
            {others.map(({ name }) => (
              <Choice
                key={name}
                label={name.replace(/_/g, " ")}
                value={held[name] ?? ""}
                onChange={(value) => view.hold(name, value)}
                options={[
                  ...(way === "heat" ? [] : [EACH]),
                  ...valuesAlong(results, name).map((text): [string, string] => [text, text]),
                ]}
              />
            ))}
            {way === "lines" && (
              <span className="pick" role="group" aria-label="Logarithmic axes">
                log
                <LogSwitch
                  label="x"
                  on={log.x && !noLogX}
                  why={noLogX ? (across.numeric ? "Values of 0 and below have no logarithm" : "This axis has no numbers") : ""}
                  onChange={(x) => view.setLog({ ...log, x })}
                />
                <LogSwitch
                  label="y"
                  on={view.log ? view.log.y : charts.some(({ lines }) => isWideY(lines))}
                  why=""
                  onChange={(y) => view.setLog({ ...log, y })}
                />
              </span>
            )}
          </>
        )}
      </div>
      {way === "history" ? (
        optimisation && <History study={study} optimisation={optimisation} view={view} point={point} plots={plots} />
      ) : way === "table" ? (
        <ResultTable study={document} results={results} metrics={metrics} view={view} point={point} />
      ) : (
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
              {labels.length > LINES_MAX && <li className="mut">{labels.length - LINES_MAX} more: hold one of the axes at a value to see them</li>}
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
              const logY = view.log ? view.log.y : isWideY(lines);
              const none = way === "lines" ? !lines.length : metric === FOUND && !results.found.length;
              return (
                <figure key={metric} data-testid={`chart-${metric}`} data-points={lines.reduce((sum, { spots: own }) => sum + own.length, 0)}>
                  <figcaption>
                    <b>{title}</b>
                    <span className="mut">
                      {metric === FOUND ? "median of the seeds" : "mean of the seeds"}
                      {way === "lines" && (metric === FOUND ? ", bars from the least to the largest" : ", bars: 95 % interval")}
                      {way === "lines" && logY ? "; logarithmic" : ""}
                    </span>
                  </figcaption>
                  <div className="plot">
                    {none ? (
                      <Empty title={metric === FOUND && across.of !== "axis" ? "Choose an axis to go across" : "No values yet"}>
                        {metric === FOUND && across.of !== "axis" ? "The load is what was found, so it cannot stand on the other axis, too." : ""}
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
                        logX={log.x && !noLogX}
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
      )}
    </section>
  );
}

/** Each objective trial by trial. */
function History({
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
                  {objectiveText(study.document, objective).split(" ")[0]} is sought, {objective.over_seeds === "worst" ? "worst" : "mean"} of the seeds
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
                  <Empty title="No trial has ended yet">Each appears here when its runs have.</Empty>
                )}
              </div>
            </figure>
          );
        })}
      </div>
    </>
  );
}

const isWideY = (lines: { spots: { y: number }[] }[]) => isWide(lines.flatMap(({ spots }) => spots.map(({ y }) => y)));

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: [value: string, text: string][];
  onChange: (value: string) => void;
}) {
  return (
    <label className="pick">
      {label}
      <span className="in">
        <select value={value} onChange={(event) => onChange(event.target.value)}>
          {options.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </span>
    </label>
  );
}

function LogSwitch({ label, on, why, onChange }: { label: string; on: boolean; why: string; onChange: (on: boolean) => void }) {
  return (
    <button className="btn mini" aria-pressed={on} disabled={Boolean(why)} title={why || `Logarithmic ${label} axis`} onClick={() => onChange(!on)}>
      {label}
    </button>
  );
}
