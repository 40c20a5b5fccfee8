import type { StudyDetail, StudyResults } from "../../api/types";
import { areWide, telling, valuesAlong, whyNoCells, whyNoLog, type ChartedLine, type Dimension } from "../../model/study/chart";
import { engineAxis } from "../../model/study/engines";
import { FOUND } from "../../model/study/metrics";
import { isNumeric, isOptimised, loadOf } from "../../model/study/study";
import { Icon } from "../../ui/Icon";
import { MetricMenu } from "./MetricMenu";
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
const SEARCHED: [way: Way, label: string] = ["search", "Search"];
const COMPARED: [way: Way, label: string] = ["matrix", "Engines"];
const EACH: [value: string, text: string] = ["", "one line each"];

/** Above the results: as what they are shown, of which metrics, over which axes, at which values of the others. */
export function ResultTools({
  study,
  results,
  metrics,
  dimensions,
  charts,
  view,
}: {
  study: StudyDetail;
  results: StudyResults;
  metrics: string[];
  dimensions: Dimension[];
  charts: { lines: ChartedLine[] }[];
  view: View;
}) {
  const { document } = study;
  const { across, held, way } = view;
  const searches = loadOf(document) !== null;
  const numericAxes = (document.axes ?? []).filter(isNumeric).map(({ name }) => name);
  const others = telling(document, dimensions, across.name, metrics.find((name) => name !== FOUND) ?? FOUND).filter(
    ({ name }) => way !== "heat" || name !== view.up,
  );
  const log = { x: view.log?.x ?? across.logarithmic, y: view.log?.y ?? false };
  const noLogX = whyNoLog(across, charts.flatMap(({ lines }) => lines));
  const ways = isOptimised(document) ? OPTIMISED : [...(engineAxis(document) ? [COMPARED] : []), ...(searches ? [SEARCHED] : []), ...WAYS];
  return (
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
      ) : way === "search" || way === "matrix" ? null : (
        <MetricMenu known={study.metrics} searches={searches} chosen={metrics} onChange={(names) => view.change({ metrics: names.join(",") })} />
      )}
      {(way === "lines" || way === "heat") && (
        <>
          <Choice
            label="x axis"
            value={across.name}
            onChange={(x) => view.change({ x, log: "" })}
            options={dimensions
              .filter(({ name }) => way !== "heat" || numericAxes.includes(name))
              .map(({ name, title }): [string, string] => [name, title])}
          />
          {way === "heat" && (
            <Choice
              label="y axis"
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
                why={noLogX}
                onChange={(x) => view.setLog({ ...log, x })}
              />
              <LogSwitch
                label="y"
                on={view.log ? view.log.y : charts.some(({ lines }) => areWide(lines))}
                why=""
                onChange={(y) => view.setLog({ ...log, y })}
              />
            </span>
          )}
        </>
      )}
    </div>
  );
}

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
