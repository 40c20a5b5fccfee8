import { useCallback, useMemo, useRef, useState, type ReactNode } from "react";
import type { Frame } from "../api/types";
import { labelLines, type FaultMark } from "../model/faults";
import { frameAt } from "../model/frames";
import { columnsOf, spansMoreThanADecade, timeTicks, type Column } from "../model/series";
import { latency, short } from "../ui/format";
import { Icon } from "../ui/Icon";
import { Chart, GUTTER_LEFT, GUTTER_RIGHT, type Line } from "./Chart";
import { FrameTable } from "./FrameTable";
import { momentOf, useLiveRun } from "./liveRun";

/** Percentiles are ordered, so one hue: p50 dotted, p95 dashed, p99 solid and heaviest. */
const LATENCY: Line[] = [
  { label: "p50", token: "--p50", width: 1.75, dash: [2, 2] },
  { label: "p95", token: "--p95", width: 1.75, dash: [7, 3] },
  { label: "p99", token: "--p99", width: 2.25 },
];
const RATES: Line[] = [
  { label: "offered", token: "--s6", width: 1.5, dash: [4, 3] },
  { label: "in, at sources", token: "--accent", width: 2, filled: true },
  { label: "out, at sinks", token: "--s3", width: 1.75, dash: [8, 3, 2, 3] },
];
const QUEUES: Line[] = [
  { label: "backlog", token: "--s1", width: 2, filled: true },
  { label: "in queues", token: "--s2", width: 1.5, dash: [6, 3] },
];

/** Labels of faults: lines that they may take, and how wide a chart is at least and a letter on average, in px. */
const FAULT_LINES = 3;
const CHART_PX = 660;
const LETTER_PX = 6;

const latencyText = (value: number) => latency(value).join(" ");

/** Latency, throughput and queues over one time axis, with one cursor. A click holds the moment, Esc or "Go live" lets it go. */
export function TimeStack({
  frames,
  end_s,
  warmup_s,
  faults,
  finished,
  definition,
  latencies,
  latency: chosen,
  onLatency,
}: {
  frames: Frame[];
  end_s: number;
  warmup_s: number;
  faults: FaultMark[];
  finished: boolean;
  /** From which clock to which point latency is measured, in words. */
  definition: string;
  /** Names of all latencies that were measured; the first is called by the empty name. */
  latencies: string[];
  latency: string;
  onLatency: (name: string) => void;
}) {
  const columns = useMemo(() => columnsOf(frames), [frames]);
  const log = useMemo(() => spansMoreThanADecade(columns.latency), [columns]);
  const moment_s = useLiveRun(momentOf);
  const pinned = useLiveRun((state) => state.pinned_s !== null);
  const [table, setTable] = useState<string | null>(null);
  const stack = useRef<HTMLDivElement>(null);
  const head_s = frames.at(-1)?.t_s ?? 0;

  const timeAt = (clientX: number): number | null => {
    const box = stack.current?.getBoundingClientRect();
    if (!box) return null;
    const share = (clientX - box.left - GUTTER_LEFT) / (box.width - GUTTER_LEFT - GUTTER_RIGHT);
    return share < -0.01 || share > 1.01 ? null : Math.max(0, Math.min(share * end_s, head_s));
  };
  const held = (t_s: number | null) => (t_s === null ? null : (frameAt(frames, t_s)?.t_s ?? null));
  const step = (frame_count: number) => {
    const now = moment_s ?? head_s;
    const at = frames.indexOf(frameAt(frames, now) as Frame);
    const next = frames[Math.max(0, Math.min(frames.length - 1, at + frame_count))];
    if (next) useLiveRun.setState({ pinned_s: next.t_s });
  };

  const onDrawn = useCallback((points: number) => {
    stack.current?.setAttribute("data-points", String(points));
    if (points > 0 && window.__millrace && window.__millrace.firstPointMs < 0) window.__millrace.firstPointMs = performance.now();
  }, []);

  const share = (t_s: number) => `${(Math.min(1, Math.max(0, t_s / end_s)) * 100).toFixed(4)}%`;
  const shades = (
    <>
      {warmup_s > 0 && <i className="warm" style={{ width: share(warmup_s) }} />}
      {faults.map((fault, at) => (
        <i key={at} className="fault" style={{ left: share(fault.start_s), width: share(fault.end_s - fault.start_s) }} />
      ))}
      {head_s < end_s - 1e-6 && <i className="future" style={{ left: share(head_s) }} />}
    </>
  );
  const lines = labelLines(
    faults.map((fault) => fault.start_s / end_s),
    faults.map((fault) => (fault.text.length * LETTER_PX + 16) / CHART_PX),
    FAULT_LINES,
  );
  const notes: Note[] = [
    ...(warmup_s / end_s > 0.08 ? [{ text: "warm-up", left: share(warmup_s / 2), kind: "low" }] : []),
    ...(head_s / end_s < 0.8 ? [{ text: finished ? "not simulated" : "not simulated yet", left: share((head_s + end_s) / 2), kind: "low" }] : []),
    ...faults.flatMap((fault, at) => {
      const line = lines[at] ?? -1;
      return line < 0 ? [] : [{ text: fault.text, left: share(fault.start_s), top: 4 + 18 * line, kind: "fault ell" }];
    }),
  ];
  const charts = { t_s: columns.t_s, end_s };
  const now = moment_s === null ? frames.at(-1) : frameAt(frames, moment_s);
  return (
    <section
      className="panel stack"
      ref={stack}
      tabIndex={0}
      aria-label="Charts over virtual time. Arrow keys move the moment, Escape goes live."
      data-testid="time-stack"
      data-points="0"
      onPointerMove={(event) => useLiveRun.setState({ hovered_s: held(timeAt(event.clientX)) })}
      onPointerLeave={() => useLiveRun.setState({ hovered_s: null })}
      onClick={(event) => {
        if ((event.target as HTMLElement).closest("button, .frames, .ph")) return;
        const t_s = held(timeAt(event.clientX));
        if (t_s !== null) useLiveRun.setState({ pinned_s: t_s });
      }}
      onKeyDown={(event) => {
        const count = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
        if (count) {
          event.preventDefault();
          step(count);
        }
        if (event.key === "Escape") useLiveRun.setState({ pinned_s: null });
      }}
    >
      <Panel
        title="Latency"
        note={`${definition}${log ? ", log scale" : ""}`}
        lines={LATENCY}
        table={table === "latency"}
        onTable={() => setTable(table === "latency" ? null : "latency")}
        values={now ? [now.latency_ms?.p50, now.latency_ms?.p95, now.latency_ms?.p99] : []}
        format={latencyText}
        choice={
          latencies.length > 1 && (
            <label className="in choice">
              <select aria-label="Latency shown" value={chosen} onChange={(event) => onLatency(event.target.value)}>
                {latencies.map((name) => (
                  <option key={name} value={name}>
                    {name || "measured"}
                  </option>
                ))}
              </select>
              <Icon name="down" />
            </label>
          )
        }
      >
        {table === "latency" ? (
          <FrameTable frames={frames} lines={LATENCY} columns={columns.latency} t_s={columns.t_s} format={latencyText} />
        ) : (
          <Plot shades={shades} notes={notes}>
            <Chart {...charts} columns={columns.latency} lines={LATENCY} log={log} format={latencyText} onDrawn={onDrawn} />
          </Plot>
        )}
      </Panel>
      <Panel
        title="Throughput"
        note="records per virtual second"
        lines={RATES}
        table={table === "rates"}
        onTable={() => setTable(table === "rates" ? null : "rates")}
        values={now ? [now.offered_per_s, now.in_per_s, now.out_per_s] : []}
        format={short}
      >
        {table === "rates" ? (
          <FrameTable frames={frames} lines={RATES} columns={columns.rates} t_s={columns.t_s} format={short} />
        ) : (
          <Plot shades={shades}>
            <Chart {...charts} columns={columns.rates} lines={RATES} log={false} format={short} />
          </Plot>
        )}
      </Panel>
      <Panel
        title="Waiting"
        note="records in logs and queues"
        lines={QUEUES}
        table={table === "queues"}
        onTable={() => setTable(table === "queues" ? null : "queues")}
        values={columns.queues.map((column: Column) => (now ? (column[now.n] ?? null) : null))}
        format={short}
      >
        {table === "queues" ? (
          <FrameTable frames={frames} lines={QUEUES} columns={columns.queues} t_s={columns.t_s} format={short} />
        ) : (
          <Plot shades={shades}>
            <Chart {...charts} columns={columns.queues} lines={QUEUES} log={false} format={short} />
          </Plot>
        )}
      </Panel>
      <div className="xax" style={{ marginLeft: GUTTER_LEFT, marginRight: GUTTER_RIGHT }}>
        {timeTicks(end_s).map((t_s) => (
          <span key={t_s} style={{ left: share(t_s) }}>
            {short(t_s)}
            {t_s === 0 ? " s" : ""}
          </span>
        ))}
        {moment_s !== null && (
          <span className={`c ${pinned ? "pinned" : ""}`} style={{ left: share(moment_s) }}>
            {moment_s.toFixed(2)} s
          </span>
        )}
      </div>
      {moment_s !== null && (
        <div className="cursor-box" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
          <i style={{ left: share(moment_s) }} />
        </div>
      )}
    </section>
  );
}

/** A word on a chart: at the bottom, or behind the lines, so that no peak is covered, at a height. */
interface Note {
  text: string;
  left: string;
  top?: number;
  kind: string;
}

function Plot({
  shades,
  notes = [],
  children,
}: {
  shades: ReactNode;
  notes?: Note[];
  children: ReactNode;
}) {
  return (
    <div className="plot">
      <div className="shades" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
        {shades}
        <Notes notes={notes.filter((note) => note.top !== undefined)} />
      </div>
      {children}
      <div className="shades" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
        <Notes notes={notes.filter((note) => note.top === undefined)} />
      </div>
    </div>
  );
}

function Notes({ notes }: { notes: Note[] }) {
  return notes.map(({ text, left, top, kind }, at) => (
    <span key={at} className={`tagp ${kind}`} style={{ left, top, maxWidth: `calc(100% - ${left})` }}>
      {text}
    </span>
  ));
}

function Panel({
  title,
  note,
  lines,
  values,
  format,
  table,
  onTable,
  choice,
  children,
}: {
  title: string;
  note: string;
  lines: Line[];
  values: (number | null | undefined)[];
  format: (value: number) => string;
  table: boolean;
  onTable: () => void;
  /** What else there is to be seen here. */
  choice?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section>
      <div className="ph">
        <h2>{title}</h2>
        {choice}
        <span className="mut">{note}</span>
        <div className="lg">
          {lines.map((line, at) => (
            <span key={line.label}>
              <svg width="20" height="8" aria-hidden="true">
                <path
                  d="M0 4H20"
                  style={{ stroke: `var(${line.token})`, strokeWidth: line.width, strokeDasharray: line.dash?.join(" "), fill: "none" }}
                />
              </svg>
              {line.label}
              <b>{values[at] === null || values[at] === undefined ? "–" : format(values[at] as number)}</b>
            </span>
          ))}
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
      </div>
      {children}
    </section>
  );
}
