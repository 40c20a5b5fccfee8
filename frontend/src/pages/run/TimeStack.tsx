import { Fragment, useCallback, useMemo, useRef, useState, type ReactNode } from "react";
import type { AlignedData } from "uplot";
import type { ExperimentDocument } from "../../api/document";
import type { Frame } from "../../api/types";
import { bytes, latency, short } from "../../lib/format";
import { instancesOf } from "../../model/document/document";
import { labelLines, type FaultMark } from "../../model/document/faults";
import { latencyTitle, type NamedLatency } from "../../model/document/latencies";
import { CHARTS, chartOf, drawsLines, largestOperators, type ChartId, type ChartOf, type LineChartId, type Unit } from "../../model/run/charts";
import { chartSvg } from "../../model/run/chartSvg";
import { bandAt, bandsIn } from "../../model/run/scaling";
import { Series, spansMoreThanADecade, type Span } from "../../model/run/series";
import { Chart, GUTTER_LEFT, GUTTER_RIGHT } from "../../ui/chart/Chart";
import { PictureMenu } from "../../ui/chart/PictureMenu";
import { TimeAxis } from "../../ui/chart/TimeAxis";
import { Icon } from "../../ui/Icon";
import { themeColour } from "../../ui/themeColour";
import { BandCard } from "./BandCard";
import { CheckpointGrid } from "./CheckpointGrid";
import { FrameTable } from "./FrameTable";
import { step } from "./keys";
import { Legend } from "./Legend";
import { momentOf, noteDrawn, useLiveRun } from "./liveRun";
import { Workers } from "./Workers";

/** Labels of faults: lines that they may take, and how wide a chart is at least and a letter on average, in px. */
const FAULT_LINES = 3;
const CHART_PX = 660;
const LETTER_PX = 6;

/** A press that moves so far chooses a stretch; less is a click. */
const DRAG_PX = 5;

/** So near the pointer comes to the band of a rescale to be told of it. */
const BAND_PX = 4;

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

/**
 * The charts over one time axis, with one cursor. A click holds the moment, Esc or "Go live" lets it go; dragging over a stretch shows
 * only that, a double click all of it.
 */
export function TimeStack({
  document,
  end_s,
  warmup_s,
  faults,
  finished,
  latencies,
  settings,
  onSettings,
  onRescale,
  whySlow,
}: {
  document: ExperimentDocument;
  end_s: number;
  warmup_s: number;
  faults: FaultMark[];
  finished: boolean;
  latencies: NamedLatency[];
  settings: StackSettings;
  onSettings: (changes: Partial<StackSettings>) => void;
  onRescale: (frame: Frame) => void;
  /** Leads from the latency chart to the records behind it. */
  whySlow: ReactNode;
}) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const pinned = useLiveRun((state) => state.pinned_s !== null);
  const zoom = useLiveRun((state) => state.zoom);
  const [table, setTable] = useState<ChartId | null>(null);
  const [drag, setDrag] = useState<Span | null>(null);
  const [told, setTold] = useState<number | null>(null); // of the rescale under the pointer
  const press = useRef<{ x: number; t_s: number } | null>(null);
  const stack = useRef<HTMLDivElement>(null);
  const head_s = count ? log.timeOf(count - 1) : 0;
  const span: Span = zoom ?? { from_s: 0, to_s: end_s };
  const width_s = span.to_s - span.from_s;

  const timeAt = (clientX: number, clamp = false): number | null => {
    const box = stack.current?.getBoundingClientRect();
    if (!box) return null;
    const share = (clientX - box.left - GUTTER_LEFT) / (box.width - GUTTER_LEFT - GUTTER_RIGHT);
    if (!clamp && (share < -0.01 || share > 1.01)) return null;
    return span.from_s + Math.max(0, Math.min(1, share)) * width_s;
  };
  /** The edge of the frame that covers a moment. */
  const held = (t_s: number | null) => (t_s === null || !count ? null : log.timeOf(Math.min(log.numberAt(t_s), count - 1)));
  const onDrawn = useCallback((data: AlignedData) => {
    const points = data[0].length;
    stack.current?.setAttribute("data-points", String(points));
    if (points && window.__millrace) window.__millrace.chart = data;
    noteDrawn(points);
  }, []);

  const firstLines = settings.charts.findIndex(drawsLines);
  const place = (t_s: number) => (t_s - span.from_s) / width_s;
  const share = (t_s: number) => `${(Math.min(1, Math.max(0, place(t_s))) * 100).toFixed(4)}%`;
  const wide = (from_s: number, to_s: number) =>
    `${(Math.max(0, Math.min(1, place(to_s)) - Math.max(0, place(from_s))) * 100).toFixed(4)}%`;
  const seen = faults.filter((fault) => fault.end_s >= span.from_s && fault.start_s <= span.to_s);
  const bands = bandsIn(log.scaling, span);
  const card = drag ? undefined : bands.find(({ action }) => action.number === told);
  const bandUnder = (event: React.PointerEvent): number | null => {
    const t_s = bands.length && !(event.target as Element).closest(PASSIVE) ? timeAt(event.clientX) : null;
    const width_px = stack.current?.clientWidth ?? 1;
    return t_s === null ? null : (bandAt(bands, t_s, (BAND_PX * width_s) / width_px)?.action.number ?? null);
  };
  const shades = (
    <>
      {warmup_s > span.from_s && <i className="warm" style={{ width: share(warmup_s) }} />}
      {seen.map((fault, at) => (
        <i key={at} className="fault" style={{ left: share(fault.start_s), width: wide(fault.start_s, fault.end_s) }} />
      ))}
      {bands.map(({ action: { number, outcome }, from_s, to_s, down }) => (
        <Fragment key={number}>
          <i className={`band ${outcome}`} data-testid={`band-${number}`} style={{ left: share(from_s), width: wide(from_s, to_s ?? head_s) }} />
          {down && <i className="down-band" style={{ left: share(down.from_s), width: wide(down.from_s, down.to_s ?? head_s) }} />}
        </Fragment>
      ))}
      {head_s < span.to_s - 1e-6 && <i className="future" style={{ left: share(head_s) }} />}
      {drag && <i className="drag" style={{ left: share(drag.from_s), width: wide(drag.from_s, drag.to_s) }} />}
    </>
  );
  const lines = labelLines(
    seen.map((fault) => Math.max(0, place(fault.start_s))),
    seen.map((fault) => (fault.text.length * LETTER_PX + 16) / CHART_PX),
    FAULT_LINES,
  );
  const notes: Note[] = [
    ...(place(warmup_s) > 0.08 ? [{ text: "warm-up", left: share((span.from_s + Math.min(warmup_s, span.to_s)) / 2), kind: "low" }] : []),
    ...(place(head_s) < 0.8
      ? [{ text: finished ? "not simulated" : "not simulated yet", left: share((Math.max(head_s, span.from_s) + span.to_s) / 2), kind: "low" }]
      : []),
    ...seen.flatMap((fault, at) => {
      const line = lines[at] ?? -1;
      return line < 0 ? [] : [{ text: fault.text, left: share(fault.start_s), top: 4 + 18 * line, kind: "fault ell" }];
    }),
  ];
  const now = !count ? -1 : moment_s === null ? count - 1 : Math.min(log.numberAt(moment_s), count - 1);
  return (
    <section
      className="panel stack"
      ref={stack}
      tabIndex={0}
      aria-label="Charts over virtual time. Arrow keys move the moment, plus and minus zoom, 0 shows all, Escape goes live."
      data-testid="time-stack"
      data-points="0"
      onPointerDown={(event) => {
        const t_s = timeAt(event.clientX);
        const passive = (event.target as HTMLElement).closest(PASSIVE);
        if (event.button === 0 && t_s !== null && !passive) press.current = { x: event.clientX, t_s };
      }}
      onPointerMove={(event) => {
        useLiveRun.setState({ hovered_s: held(timeAt(event.clientX)) });
        setTold(bandUnder(event));
        const began = press.current;
        if (!began || (!drag && Math.abs(event.clientX - began.x) < DRAG_PX)) return;
        if (!drag) event.currentTarget.setPointerCapture(event.pointerId);
        const t_s = timeAt(event.clientX, true) ?? began.t_s;
        setDrag({ from_s: Math.min(began.t_s, t_s), to_s: Math.max(began.t_s, t_s) });
      }}
      onPointerUp={() => {
        const began = press.current;
        press.current = null;
        setDrag(null);
        if (drag && drag.to_s > drag.from_s) useLiveRun.setState({ zoom: drag });
        else if (began) {
          const t_s = held(began.t_s);
          if (t_s !== null) useLiveRun.setState({ pinned_s: t_s, playing: false });
        }
      }}
      onPointerCancel={() => {
        press.current = null;
        setDrag(null);
      }}
      onPointerLeave={() => {
        useLiveRun.setState({ hovered_s: null });
        setTold(null);
      }}
      onDoubleClick={(event) => {
        if (!(event.target as HTMLElement).closest(PASSIVE)) useLiveRun.setState({ zoom: null });
      }}
      onKeyDown={(event) => {
        if ((event.target as HTMLElement).closest("select, input, .frames")) return;
        const frames = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
        if (!frames) return;
        event.preventDefault();
        step(frames);
      }}
    >
      <div className="stack-scroll scroll">
        {settings.charts.map((id, index) =>
          id === "checkpoints" ? (
            <CheckpointGrid key={id} document={document} span={span} shades={shades} />
          ) : id === "workers" ? (
            <Workers key={id} document={document} span={span} shades={shades} bands={bands} onRescale={onRescale} />
          ) : (
            <ChartPanel
              key={id}
              id={id}
              document={document}
              latencies={latencies}
              settings={settings}
              onSettings={onSettings}
              span={span}
              now={now}
              table={table === id}
              onTable={() => setTable(table === id ? null : id)}
              shades={shades}
              notes={index === firstLines ? notes : []}
              onDrawn={index === firstLines ? onDrawn : undefined}
              extra={id === "latency" ? whySlow : null}
            />
          ),
        )}
        {moment_s !== null && place(moment_s) >= 0 && place(moment_s) <= 1 && (
          <div className="cursor-box" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
            <i style={{ left: share(moment_s) }} />
          </div>
        )}
      </div>
      {card && (
        <div className={`band-at ${place(card.from_s) > 0.6 ? "left" : ""}`} style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
          <div style={{ left: share(place(card.from_s) > 0.6 ? card.from_s : (card.to_s ?? head_s)) }}>
            <BandCard action={card.action} head_s={head_s} />
          </div>
        </div>
      )}
      <TimeAxis span={span} moment_s={moment_s} pinned={pinned} />
    </section>
  );
}

/** Where a press is no choice of a moment. */
const PASSIVE = "button, .frames, .ph, select, .menu";

/** A word on a chart: at the bottom, or behind the lines, so that no peak is covered, at a height. */
interface Note {
  text: string;
  left: string;
  top?: number;
  kind: string;
}

function ChartPanel({
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
          <Choice label="Whose time" value={operator} onChange={(name) => onSettings({ operator: name })}>
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
            <p className="none-here">{NOTHING[id] ?? "No operator has any."}</p>
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
  watermarks: "No operator has seen a watermark. Sources give them when their workload has a watermark generator.",
  state: "No operator holds state.",
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
