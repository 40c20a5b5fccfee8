import { useMemo, useState, type ReactNode } from "react";
import type { Frame } from "../../api/types";
import { latency, short } from "../../lib/format";
import type { Line } from "../../model/run/charts";
import { chartSvg } from "../../model/run/chartSvg";
import { onOneAxis, seriesOf, valueAt, waitingRecords, type Series } from "../../model/run/compare";
import { spansMoreThanADecade, type Column, type Span } from "../../model/run/series";
import { Chart, GUTTER_LEFT, GUTTER_RIGHT } from "../../ui/chart/Chart";
import { PictureMenu } from "../../ui/chart/PictureMenu";
import { TimeAxis } from "../../ui/chart/TimeAxis";
import { Icon } from "../../ui/Icon";
import { themeColour } from "../../ui/themeColour";
import type { Compared } from "./compared";
import { LINES, LineSample } from "./lines";

const METRICS = ["p50", "p95", "p99", "max"] as const;
type Metric = (typeof METRICS)[number];

const latencyText = (value: number) => latency(value).join(" ");

/** Latency, throughput and waiting records of all runs over one axis of virtual time, with one cursor. */
export function CompareCharts({
  compared,
  aligned,
  metric,
  onMetric,
}: {
  compared: Compared[];
  /** What the moments have in common that count as 0; empty where all begin there. */
  aligned: string;
  metric: string;
  onMetric: (metric: string) => void;
}) {
  const shown = METRICS.find((one) => one === metric) ?? "p99";
  const [cursor_s, setCursor] = useState<number | null>(null);
  const from_s = -Math.max(...compared.map(({ zero_s }) => zero_s));
  const end_s = Math.max(
    from_s + 1e-3,
    ...compared.map(({ run, frames, zero_s }) => Math.max(run.horizon_s ?? 0, frames.at(-1)?.t_s ?? 0) - zero_s),
  );
  const warmup_s = Math.min(...compared.map(({ run }) => warmupOfRun(run.document)));
  const share = (t_s: number) => `${Math.min(100, ((t_s - from_s) / (end_s - from_s)) * 100).toFixed(3)}%`;
  const pointed = (event: React.PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = (event.clientX - box.left - GUTTER_LEFT) / (box.width - GUTTER_LEFT - GUTTER_RIGHT);
    setCursor(at < 0 || at > 1 ? null : from_s + at * (end_s - from_s));
  };
  const span = useMemo((): Span => ({ from_s, to_s: end_s }), [from_s, end_s]);
  const common = { compared, span, cursor_s };
  return (
    <section
      className="panel compare-charts"
      aria-label="Charts over virtual time"
      data-testid="compare-charts"
      onPointerMove={pointed}
      onPointerLeave={() => setCursor(null)}
    >
      <Overlay
        {...common}
        title="Latency"
        pick={PICK_LATENCY[shown]}
        format={latencyText}
        mayBeLog
        choice={
          <span className="seg" role="radiogroup" aria-label="Percentile">
            {METRICS.map((one) => (
              <label key={one}>
                <input type="radio" name="metric" checked={shown === one} onChange={() => onMetric(one === "p99" ? "" : one)} />
                {one}
              </label>
            ))}
          </span>
        }
      />
      <Overlay {...common} title="Throughput out" unit="records per virtual second" pick={PICK_OUT} format={short} />
      {compared.some(({ frames }) => frames[0]?.scaling) && (
        <Overlay {...common} title="Instances" unit="active instances" pick={PICK_WORKERS} format={short} stepped />
      )}
      <Overlay {...common} title="Waiting" unit="records in logs and queues" pick={waitingRecords} format={short} />
      <TimeAxis span={{ from_s, to_s: end_s }} moment_s={cursor_s} />
      <div className="over" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
        {warmup_s > 0 && !aligned && <i className="warm-end" style={{ left: share(warmup_s) }} title="End of the warm-up" />}
        {aligned && (
          <i className="fork" data-testid="zero-mark" style={{ left: share(0) }}>
            <b>{aligned}</b>
          </i>
        )}
        {compared.map(
          ({ run, zero_s }) =>
            typeof run.fork_at_s === "number" &&
            !(aligned && run.fork_at_s === zero_s) && (
              <i key={run.id} className="fork" data-testid="fork-mark" style={{ left: share(run.fork_at_s - zero_s) }}>
                <b>fork</b>
              </i>
            ),
        )}
        {cursor_s !== null && <i className="at" style={{ left: share(cursor_s) }} />}
      </div>
    </section>
  );
}

const PICK_LATENCY = Object.fromEntries(
  METRICS.map((metric) => [metric, (frame: Frame) => frame.latency_ms?.[metric]]),
) as Record<Metric, (frame: Frame) => number | null | undefined>;
const PICK_OUT = (frame: Frame) => frame.out_per_s;
const PICK_WORKERS = (frame: Frame) => frame.scaling?.workers;

function warmupOfRun(document: unknown): number {
  const warmup_s = (document as { workload?: { warmup_s?: unknown } } | undefined)?.workload?.warmup_s;
  return typeof warmup_s === "number" ? warmup_s : 0;
}

/** One measure of all runs. */
function Overlay({
  compared,
  title,
  unit = "",
  pick,
  format,
  span,
  cursor_s,
  mayBeLog = false,
  stepped = false,
  choice,
}: {
  compared: Compared[];
  title: string;
  unit?: string;
  pick: (frame: Frame) => number | null | undefined;
  format: (value: number) => string;
  span: Span;
  cursor_s: number | null;
  mayBeLog?: boolean;
  /** A value holds until the next one. */
  stepped?: boolean;
  choice?: ReactNode;
}) {
  const [table, setTable] = useState(false);
  const series = useMemo(() => compared.map(({ frames, zero_s }) => seriesOf(frames, pick, zero_s)), [compared, pick]);
  const { t_s, columns } = useMemo(() => onOneAxis(series), [series]);
  const lines = useMemo(
    () => compared.map(({ run }, at): Line => ({ label: `Run ${run.number}`, ...(LINES[at] as Omit<Line, "label">) })),
    [compared],
  );
  const drawn = columns as Column[];
  const log = mayBeLog && spansMoreThanADecade(series.map(({ values }) => values));
  return (
    <section>
      <div className="ph">
        <h2>{title}</h2>
        {choice}
        <span className="mut">
          {unit}
          {log ? "log scale" : ""}
        </span>
        <div className="lg">
          {lines.map((line, at) => (
            <span key={line.label}>
              <LineSample line={line} />
              {line.label.replace("Run ", "")}
              <b>{text(cursor_s === null ? last(series[at]) : valueAt(series[at] as Series, cursor_s), format)}</b>
            </span>
          ))}
          {!table && (
            <PictureMenu
              title={title}
              name={`${lines.map(({ label }) => label).join(" ")} ${title}`}
              picture={() =>
                chartSvg(
                  { title, note: log ? "log scale" : unit, t_s, columns: drawn, lines, span, log, areas: false, stepped, format },
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
            onClick={() => setTable(!table)}
          >
            <Icon name={table ? "compare" : "table"} small />
          </button>
        </div>
      </div>
      {table ? (
        <SeriesTable title={title} t_s={t_s} columns={columns} lines={lines} format={format} />
      ) : (
        <div className="plot">
          <Chart t_s={t_s} columns={drawn} lines={lines} span={span} log={log} stepped={stepped} format={format} />
        </div>
      )}
    </section>
  );
}

const last = (series: Series | undefined) => series?.values.findLast((value) => value !== null) ?? null;
const text = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? "–" : format(value);

const ROWS_MAX = 500;

/** The same numbers as a table. */
function SeriesTable({
  title,
  t_s,
  columns,
  lines,
  format,
}: {
  title: string;
  t_s: number[];
  columns: (number | null | undefined)[][];
  lines: Line[];
  format: (value: number) => string;
}) {
  return (
    <div className="scroll series" tabIndex={0} role="region" aria-label={`${title}, table`}>
      <table className="table">
        <thead>
          <tr>
            <th className="num">Time, s</th>
            {lines.map((line) => (
              <th key={line.label} className="num">
                {line.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {t_s.slice(0, ROWS_MAX).map((time, at) => (
            <tr key={time}>
              <td className="num">{time.toFixed(2)}</td>
              {columns.map((column, index) => (
                <td key={lines[index]?.label} className="num">
                  {text(column[at], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {t_s.length > ROWS_MAX && (
        <p className="mut small">
          The first {ROWS_MAX} of {t_s.length} frames; each run page has all of its frames.
        </p>
      )}
    </div>
  );
}
