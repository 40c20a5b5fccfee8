/** The charts of a run: what each draws, and where in the frames it reads that. */
import type { ExperimentDocument } from "../../api/document";
import type { Attribution } from "../../api/types";
import type { FrameLog } from "./frames";
import { SUM_PARTS, type Pattern } from "./parts";

export interface Line {
  label: string;
  /** Name of a colour token, e.g. --p99. */
  token: string;
  width: number;
  dash?: number[];
  /** Paint the area below the line faintly. */
  filled?: boolean;
  /** Of a stacked area. */
  pattern?: Pattern;
  /** A line over the areas, not one of them; such lines stand last. */
  over?: boolean;
}

/** Gives the value of a line at frame n, null where there is no sample. */
export type Reader = (n: number) => number | null;

export interface ChartLine extends Line {
  /** A reader is good for the frames that the log has now. */
  read: (log: FrameLog) => Reader;
}

export type Unit = "latency" | "number" | "bytes" | "percent";

export interface ChartOf {
  lines: ChartLine[];
  note: string;
  unit: Unit;
  stacked?: boolean;
}

export const CHARTS = [
  { id: "latency", title: "Latency" },
  { id: "throughput", title: "Throughput" },
  { id: "workers", title: "Instances" },
  { id: "attribution", title: "Attribution" },
  { id: "checkpoints", title: "Checkpoints" },
  { id: "waiting", title: "Waiting" },
  { id: "queues", title: "Queues" },
  { id: "watermarks", title: "Watermark lag" },
  { id: "state", title: "State" },
  { id: "parallelism", title: "Parallelism" },
  { id: "busy", title: "Busy" },
  { id: "blocked", title: "Blocked" },
] as const;
export type ChartId = (typeof CHARTS)[number]["id"];
/** Those that draw a line for each value of the frames. */
export type LineChartId = Exclude<ChartId, "checkpoints" | "workers">;
export const drawsLines = (id: ChartId): id is LineChartId => id !== "checkpoints" && id !== "workers";

/** What a run has beside what all have: a checkpointing protocol, a parallelism that may change. */
export interface Has {
  checkpoints: boolean;
  workers: boolean;
}

/** Those of a run. */
export const chartsOf = (has: Has) => CHARTS.filter(({ id }) => drawsLines(id) || has[id]);

/** What is shown before somebody chooses. */
export const firstCharts = ({ checkpoints, workers }: Has): ChartId[] =>
  workers
    ? ["latency", "throughput", "workers", checkpoints ? "checkpoints" : "waiting"]
    : ["latency", "throughput", "attribution", checkpoints ? "checkpoints" : "waiting"];

/** Charts in the address: those that the run has, in their order; the first ones where it names none. */
export function chartsNamed(text: string | null, has: Has): ChartId[] {
  const named = new Set((text ?? "").split(","));
  const known = chartsOf(has).map(({ id }) => id).filter((id) => named.has(id));
  return known.length ? known : firstCharts(has);
}

/** Lines of a chart that has one for each operator, at most; the largest are shown. */
export const OPERATOR_LINES_MAX = 6;
const OPERATOR_STYLES: Omit<Line, "label">[] = [
  { token: "--s1", width: 2 },
  { token: "--s2", width: 1.75, dash: [10, 4] },
  { token: "--s3", width: 1.75, dash: [8, 3, 2, 3] },
  { token: "--s4", width: 2, dash: [2, 3] },
  { token: "--s5", width: 1.75, dash: [5, 3] },
  { token: "--s6", width: 1.25 },
];

/** Percentiles are ordered, so one hue: p50 dotted, p95 dashed, p99 solid and heaviest. */
const LATENCY: [field: string, line: Omit<Line, "label">][] = [
  ["p50", { token: "--p50", width: 1.75, dash: [2, 2] }],
  ["p95", { token: "--p95", width: 1.75, dash: [7, 3] }],
  ["p99", { token: "--p99", width: 2.25 }],
  ["max", { token: "--s6", width: 1, dash: [1, 2] }],
];

const at =
  (...path: string[]) =>
  (log: FrameLog): Reader => {
    const column = log.column(...path);
    return (n) => {
      const value = column[n];
      return value === undefined || Number.isNaN(value) ? null : value;
    };
  };

/** The sum of what there is of several; null where there is nothing. */
const sum =
  (readers: (log: FrameLog) => Reader[]) =>
  (log: FrameLog): Reader => {
    const all = readers(log);
    return (n) => {
      let total: number | null = null;
      for (const read of all) {
        const value = read(n);
        if (value !== null) total = (total ?? 0) + value;
      }
      return total;
    };
  };

const perOperator = (field: string) => sum((log) => log.names("operators").map((id) => at("operators", id, field)(log)));

export interface ChartChoice {
  id: LineChartId;
  /** Name of the latency, empty for the first; in words what it is. */
  latency: string;
  definition: string;
  /** Whose attribution; empty for all operators. */
  operator: string;
  /** Those that have a line of their own where there is one for each. */
  operators: string[];
  parallelism: Record<string, number>;
}

export function chartOf({ id, latency, definition, operator, operators, parallelism }: ChartChoice): ChartOf {
  const place = latency ? ["latencies_ms", latency] : ["latency_ms"];
  const ofOperators = (read: (id: string) => ChartLine["read"]): ChartLine[] =>
    operators.slice(0, OPERATOR_LINES_MAX).map((name, index) => ({ ...(OPERATOR_STYLES[index] as Omit<Line, "label">), label: name, read: read(name) }));
  const shown = operators.length > OPERATOR_LINES_MAX ? `, the ${OPERATOR_LINES_MAX} largest of ${operators.length}` : "";
  switch (id) {
    case "latency":
      return {
        lines: LATENCY.map(([field, line]) => ({ label: field, ...line, read: at(...place, field) })),
        note: definition,
        unit: "latency",
      };
    case "throughput":
      return {
        lines: [
          { label: "offered", token: "--s6", width: 1.5, dash: [4, 3], read: at("offered_per_s") },
          { label: "in, at sources", token: "--accent", width: 2, filled: true, read: at("in_per_s") },
          { label: "out, at sinks", token: "--s3", width: 1.75, dash: [8, 3, 2, 3], read: at("out_per_s") },
        ],
        note: "records per virtual second",
        unit: "number",
      };
    case "waiting":
      return {
        lines: [
          { label: "backlog", token: "--s1", width: 2, filled: true, read: at("backlog") },
          { label: "in queues", token: "--s2", width: 1.5, dash: [6, 3], read: perOperator("queue") },
        ],
        note: "records in logs and queues",
        unit: "number",
      };
    case "attribution":
      return attributionOf(operator);
    case "queues":
      return { lines: ofOperators((name) => at("operators", name, "queue")), note: `records in its queue${shown}`, unit: "number" };
    case "watermarks":
      return {
        lines: ofOperators((name) => at("operators", name, "watermark_lag_ms")),
        note: `virtual time minus the watermark${shown}`,
        unit: "latency",
      };
    case "state":
      return { lines: ofOperators((name) => at("operators", name, "state_bytes")), note: `bytes of state${shown}`, unit: "bytes" };
    case "parallelism":
      return {
        lines: ofOperators((name) => {
          const given = parallelism[name] ?? 1;
          const read = at("scaling", "parallelism", name);
          return (log) => {
            const now = read(log);
            return (n) => now(n) ?? given;
          };
        }),
        note: `instances${shown}`,
        unit: "number",
      };
    case "busy":
    case "blocked":
      return {
        lines: ofOperators((name) => {
          const read = at("operators", name, id);
          return (log) => scaled(read(log), 100);
        }),
        note: `${id === "busy" ? "share of instance time in service" : "share of instance time blocked by backpressure"}${shown}`,
        unit: "percent",
      };
  }
}

const scaled =
  (read: Reader, factor: number): Reader =>
  (n) => {
    const value = read(n);
    return value === null ? null : value * factor;
  };

/**
 * All operators: the share that each part has in the time of all records of a frame. One operator: its mean for each record, in ms,
 * of waiting and service over the records served, of sending over the records sent.
 */
function attributionOf(operator: string): ChartOf {
  const field = (log: FrameLog, names: string[], name: string) => sum(() => names.map((id) => at("operators", id, "attribution", name)(log)))(log);
  const lines = SUM_PARTS.map(({ id, label, token, pattern, field: own, per }): ChartLine => ({
    label,
    token,
    pattern,
    width: 1,
    read: (log) => {
      const names = operator ? [operator] : log.names("operators");
      const whole = field(log, names, own);
      const part: Reader = id === "service" || id === "stolen" ? split(field(log, names, "service_ns"), field(log, names, "stolen_ns"))[id] : whole;
      const count = field(log, names, per);
      if (operator)
        return (n) => {
          const records = count(n);
          const value = part(n);
          return value === null ? null : records ? value / records / 1e6 : 0;
        };
      const sums = SUM_PARTS.filter((one) => one.id !== "stolen").map((one) => field(log, names, one.field));
      return (n) => {
        const value = part(n);
        const total = sums.reduce((before, read) => before + (read(n) ?? 0), 0);
        return value === null || !total ? null : (100 * value) / total;
      };
    },
  }));
  return operator
    ? { lines, note: `mean of a record at ${operator}`, unit: "latency", stacked: true }
    : { lines, note: "share of the time of all records", unit: "percent", stacked: true };
}

/** Services of control elements lose time, too: what was stolen from records is at most what their services took. */
const split = (service: Reader, stolen: Reader): { service: Reader; stolen: Reader } => {
  const lost: Reader = (n) => {
    const [whole, part] = [service(n), stolen(n)];
    return whole === null || part === null ? part : Math.min(whole, part);
  };
  return {
    stolen: lost,
    service: (n) => {
      const whole = service(n);
      return whole === null ? null : whole - (lost(n) ?? 0);
    },
  };
};

export interface OperatorSums {
  id: string;
  records: number;
  sent: number;
  /** Sums over the frames after warm-up, in ns, in the order of SUM_PARTS. */
  parts: number[];
}

/** Where the time of the records went, operator by operator, up to a frame. */
export function operatorSums(log: FrameLog, warmup_s: number): OperatorSums[] {
  const first = warmup_s > 0 ? log.numberAt(warmup_s) + 1 : 0;
  return log.names("operators").map((id) =>
    sumsOf(id, (name) => {
      const column = log.column("operators", id, "attribution", name);
      let value = 0;
      for (let n = first; n < log.count; n += 1) value += Number.isNaN(column[n]) ? 0 : (column[n] ?? 0);
      return value;
    }),
  );
}

/** total: the sum of a field of its attribution. */
function sumsOf(id: string, total: (field: keyof Attribution) => number): OperatorSums {
  const service = total("service_ns");
  const stolen = Math.min(service, total("stolen_ns"));
  const parts = SUM_PARTS.map(({ id: name, field }) => (name === "service" ? service - stolen : name === "stolen" ? stolen : total(field)));
  return { id, records: total("records"), sent: total("sent"), parts };
}

/** The same from a run's summary; empty while it has none. */
export function summedOperators(summary: unknown): OperatorSums[] {
  const operators = (summary as { operators?: { [id: string]: { attribution?: Attribution } } } | null)?.operators ?? {};
  return Object.entries(operators).map(([id, { attribution }]) => sumsOf(id, (field) => attribution?.[field] ?? 0));
}

/** Of a record at the operator, in ns, by part. */
export const meansOf = ({ records, sent, parts }: OperatorSums): number[] =>
  parts.map((ns, at) => ns / Math.max(1, SUM_PARTS[at]?.per === "sent" ? sent : records));

/** Operators by the largest value that a field of theirs has had; those that never had one are left out. */
export function largestOperators(log: FrameLog, document: ExperimentDocument, id: ChartId): string[] {
  const all = document.query.operators.map((operator) => operator.id);
  if (id === "parallelism") return all;
  const field = { queues: "queue", watermarks: "watermark_lag_ms", state: "state_bytes", busy: "busy", blocked: "blocked" }[id as string];
  if (!field) return all;
  const peak = new Map(
    all.map((name) => {
      const column = log.column("operators", name, field);
      let most = -Infinity;
      for (let n = 0; n < log.count; n += 1) if ((column[n] as number) > most) most = column[n] as number;
      return [name, most] as const;
    }),
  );
  const known = all.filter((name) => peak.get(name) !== -Infinity && (id !== "state" || (peak.get(name) ?? 0) > 0));
  if (known.length <= OPERATOR_LINES_MAX) return known;
  const largest = [...known].sort((a, b) => (peak.get(b) ?? 0) - (peak.get(a) ?? 0)).slice(0, OPERATOR_LINES_MAX);
  return [...known.filter((name) => largest.includes(name)), ...known.filter((name) => !largest.includes(name))];
}
