import { useMemo, type ReactNode } from "react";
import type { AlignedData } from "uplot";
import type { ExperimentDocument } from "../../api/document";
import { bytes, latency, short } from "../../lib/format";
import { instancesOf } from "../../model/document/document";
import { latencyTitle, type NamedLatency } from "../../model/document/latencies";
import { CHARTS, chartOf, largestOperators, type ChartId, type ChartOf, type LineChartId, type Unit } from "../../model/run/charts";
import { chartSvg } from "../../model/run/chartSvg";
import type { Note } from "../../model/run/notes";
import { Series, spansMoreThanADecade, type Span } from "../../model/run/series";
import { Chart, GUTTER_LEFT, GUTTER_RIGHT } from "../../ui/chart/Chart";
import { PictureMenu } from "../../ui/chart/PictureMenu";
import { Icon } from "../../ui/Icon";
import { themeColour } from "../../ui/themeColour";
import { FrameTable } from "./FrameTable";
import { Legend } from "./Legend";
import { useLiveRun } from "./liveRun";

const FORMAT: Record<Unit, (value: number) => string> = {
  latency: (value) => latency(value).join(" "),
  number: short,
  bytes,
  percent: (value) => `${value < 10 && value > 0 ? short(value) : Math.round(value)} %`,
};

export interface StackSettings {
  charts: ChartId[];
  latency: string;
  operator: string;
}

/** One chart of lines or areas: its head with choices and legend, and the drawing or the same numbers as a table. */
export function ChartPanel({
  id,
  document,
  latencies,
  settings,
  onSettings,
  span,
  now,
  table,
  onTable,
  shades,
  notes,
  onDrawn,
  extra,
}: {
  id: LineChartId;
  document: ExperimentDocument;
  latencies: NamedLatency[];
  settings: StackSettings;
  onSettings: (changes: Partial<StackSettings>) => void;
  span: Span;
  /** Number of the frame whose values stand in the legend, -1 for none. */
  now: number;
  table: boolean;
  onTable: () => void;
  shades: ReactNode;
  notes: Note[];
  onDrawn: ((data: AlignedData) => void) | undefined;
  extra: ReactNode;
}) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const run = useLiveRun((state) => state.run?.number);
  const title = CHARTS.find((one) => one.id === id)?.title ?? id;
  const chosen = latencies.some(({ name }) => name === settings.latency) ? settings.latency : "";
  const operator = document.query.operators.some((one) => one.id === settings.operator) ? settings.operator : "";
  // Which operators are largest is looked at again whenever the log has grown by a tenth: lines that change places are hard to follow.
  const looked = Math.floor(Math.log(count + 1) * 10);
  const names = useMemo(() => (looked ? largestOperators(log, document, id) : []).join("\n"), [log, document, id, looked]);
  const chart: ChartOf = useMemo(
    () =>
      chartOf({
        id,
        latency: chosen,
        definition: latencies.find(({ name }) => name === chosen)?.definition ?? "",
        operator,
        operators: names ? names.split("\n") : [],
        parallelism: Object.fromEntries(document.query.operators.map((one) => [one.id, instancesOf(one)])),
      }),
    [id, chosen, latencies, operator, names, document],
  );
  const series = useMemo(() => new Series(log, chart.lines), [log, chart]);
  const { t_s, columns } = series.upTo(count);
  const logarithmic = useMemo(
    () => chart.unit === "latency" && !chart.stacked && count > 0 && spansMoreThanADecade(columns),
    [chart, columns, count],
  );
  const format = FORMAT[chart.unit];
  const note = `${chart.note}${logarithmic ? ", log scale" : ""}`;
  // Parts of which no frame has any are left out of the legend.
  const filled = Math.floor(Math.log(count + 1) * 20);
  const hidden = useMemo(
    () => (filled && chart.stacked ? columns.map((column) => !column.some((value) => value)) : undefined),
    [chart, columns, filled],
  );
  const hasSome = count === 0 || chart.lines.length > 0;
  const values = columns.map((column) => (now < 0 ? null : (column[now] ?? null)));
  const legend = <Legend lines={chart.lines} values={values} format={format} {...(hidden ? { hidden } : {})} />;
  return (
    <section data-testid={`chart-${id}`} className={chart.stacked ? "tall" : ""}>
      <div className="ph">
        <h2>{title}</h2>
        {id === "latency" && latencies.length > 1 && (
          <Choice label="Latency shown" value={chosen} onChange={(name) => onSettings({ latency: name })}>
            {latencies.map(({ name }) => (
              <option key={name} value={name}>
                {latencyTitle(name)}
              </option>
            ))}
          </Choice>
        )}
        {id === "attribution" && (
          <Choice label="Operator whose time is shown" value={operator} onChange={(name) => onSettings({ operator: name })}>
            <option value="">all operators</option>
            {document.query.operators.map((one) => (
              <option key={one.id} value={one.id}>
                {one.id}
              </option>
            ))}
          </Choice>
        )}
        <span className="mut" title={note}>
          {note}
        </span>
        {chart.stacked ? <span className="grow" /> : legend}
        {extra}
        {!table && hasSome && (
          <PictureMenu
            title={title}
            name={`run ${run} ${title}`}
            picture={() =>
              chartSvg(
                {
                  title: `Run ${run}: ${title.toLowerCase()}`,
                  note,
                  t_s,
                  columns,
                  lines: chart.lines,
                  span,
                  log: logarithmic,
                  areas: chart.stacked === true,
                  top: chart.unit === "percent" ? 100 : undefined,
                  format,
                },
                themeColour(),
              )
            }
          />
        )}
        <button
          className="btn ghost icon mini"
          title={table ? "Show the chart" : "Show as a table"}
          aria-label={`${title}: ${table ? "chart" : "table"}`}
          aria-pressed={table}
          onClick={onTable}
        >
          <Icon name={table ? "compare" : "table"} small />
        </button>
      </div>
      {chart.stacked && !table && <div className="ph second">{legend}</div>}
      {table ? (
        <FrameTable count={count} lines={chart.lines} columns={columns} t_s={t_s} format={format} />
      ) : (
        <div className="plot">
          <div className="shades" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
            {shades}
            <Notes notes={notes.filter((one) => one.top !== undefined)} />
          </div>
          {hasSome ? (
            <Chart
              t_s={t_s}
              columns={columns}
              lines={chart.lines}
              span={span}
              log={logarithmic}
              areas={chart.stacked === true}
              {...(chart.unit === "percent" ? { top: 100 } : {})}
              format={format}
              {...(onDrawn ? { onDrawn } : {})}
            />
          ) : (
            <p className="none-here">{NOTHING[id] ?? "No operator has data."}</p>
          )}
          <div className="shades over" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
            <Notes notes={notes.filter((one) => one.top === undefined)} />
          </div>
        </div>
      )}
    </section>
  );
}

const NOTHING: Partial<Record<LineChartId, string>> = {
  watermarks: "No operator has seen a watermark. Sources emit them when their workload has a watermark generator.",
  state: "No operator has state.",
};

function Choice({
  label,
  value,
  onChange,
  children,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: ReactNode;
}) {
  return (
    <label className="in choice">
      <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
        {children}
      </select>
      <Icon name="down" />
    </label>
  );
}

function Notes({ notes }: { notes: Note[] }) {
  return notes.map(({ text, left, top, kind }, at) => (
    <span key={at} className={`tagp ${kind}`} style={{ left, top, maxWidth: `calc(100% - ${left})` }}>
      {text}
    </span>
  ));
}
