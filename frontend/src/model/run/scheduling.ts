/** What a frame says of the scheduler: who runs on a host, in which order, and why. */
import type { ExperimentDocument } from "../../api/document";
import type { Registry, Tagged } from "../../api/types";
import type { FrameLog } from "./frames";

export interface ScheduledRow {
  query: string;
  rank: number;
  runs: boolean;
  waiting: number;
  /** Cores that served it in the frame, in the mean; null if that is not known. */
  cores: number | null;
  /** Values on which the policy decided, by name. */
  why: Record<string, number>;
}

export interface ScheduledHost {
  name: string;
  t_s: number;
  frees_memory: boolean;
  /** Of the memory model; null if the host has none, or if the run is of an older version. */
  memory_budget_bytes: number | null;
  /** By rank. */
  rows: ScheduledRow[];
  /** Hosts whose schedulers have told this one something, and how old that is. */
  heard: { from: string; age_ms: number }[];
}

/** Values of policies as one reads them; others are shown by their own names. */
const VALUES: Record<string, { label: string; means: string; unit: string }> = {
  slack_ms: { label: "Slack", means: "Time until the watermark that closes the next window, less the time that what waits needs", unit: "ms" },
  cost_ms: { label: "Cost", means: "Time in which the cores serve what waits, here and downstream, and the next window's results", unit: "ms" },
  expected_ms: { label: "Due in", means: "When the watermark that closes the next window is expected, from this cycle on, ± two standard deviations", unit: "ms" },
  waits_ms: { label: "Waits", means: "For how long the oldest record waits", unit: "ms" },
  work_ms: { label: "Work", means: "CPU time of what waits", unit: "ms" },
  deadline_ms: { label: "Deadline in", means: "End of the next window, in event time, from this cycle on", unit: "ms" },
  rate_per_ms: { label: "Rate", means: "Records that leave per ms of CPU time, on the best path", unit: "/ms" },
  turn: { label: "Turn", means: "Place in the cycle of turns", unit: "" },
};

export const valueOf = (name: string) => VALUES[name] ?? { label: name.replace(/_/g, " "), means: "As the policy names it", unit: "" };

const schedulingOf = ({ policies }: Pick<ExperimentDocument, "policies">): Tagged => (policies?.scheduling as Tagged | undefined) ?? { kind: "none" };

/** Nobody chooses who runs. */
const CHOOSES_NOTHING = ["none", "default"];

/** Whether somebody chooses who runs, at least for a while. */
export const isScheduled = (document: Pick<ExperimentDocument, "policies">): boolean => !CHOOSES_NOTHING.includes(schedulingOf(document).kind);

function inForce(document: Pick<ExperimentDocument, "policies">, t_s: number): Tagged {
  let about = schedulingOf(document);
  while (about.kind === "switched") about = (t_s > Number(about.at_s ?? 30) ? about.after : about.before) as Tagged ?? { kind: "none" };
  return about;
}

/** The policy in force at a moment, as its title. */
export function policyAt(document: Pick<ExperimentDocument, "policies">, { schedulings = [] }: Registry, t_s: number): string {
  const about = inForce(document, t_s);
  return schedulings.find(({ kind }) => kind === about.kind)?.title ?? about.kind;
}

/** Why there is no cycle at a moment. */
export function whyNoCycle(document: Pick<ExperimentDocument, "policies">, registry: Registry, t_s: number): string {
  const has_cycles = !CHOOSES_NOTHING.includes(inForce(document, t_s).kind);
  return has_cycles ? "No cycle yet" : `No cycle: scheduling is ${policyAt(document, registry, t_s)}`;
}

/** The last cycle of each host up to frame n. There is none where nobody chooses any more. */
export function hostsAt(log: FrameLog, n: number): ScheduledHost[] {
  const hosts = Object.entries(log.frame(n)?.scheduling?.hosts ?? {}).filter(([, { t_s }]) => (t_s as number | null) !== null);
  return hosts.map(([name, { t_s, frees_memory, memory_budget_bytes = null, queries, heard_ms }]) => ({
    name,
    t_s,
    frees_memory,
    memory_budget_bytes,
    heard: Object.entries(known(heard_ms ?? {})).map(([from, age_ms]) => ({ from, age_ms })),
    rows: Object.entries(queries)
      .map(([query, { why, rank, runs, waiting }]) => {
        const [cores = null] = coresOf(log, name, query, n, 1);
        return { query, rank, runs, waiting, cores, why: known(why ?? {}) };
      })
      .sort((a, b) => a.rank - b.rank),
  }));
}

const known = (why: Record<string, number | null>) =>
  Object.fromEntries(Object.entries(why).filter((pair): pair is [string, number] => pair[1] !== null));

/** Values that stand with others: the deviation with what it is of, a part of the cost with the cost. */
const BESIDE = ["sigma_ms", "elsewhere_ms"];

/** Names of the values that the policy gives for some query. */
export const valuesOf = (rows: ScheduledRow[]): string[] =>
  [...new Set(rows.flatMap(({ why }) => Object.keys(why)))].filter((name) => !BESIDE.includes(name));

export interface Due {
  /** Of the interval, as shares of the widest row's end; 0: now. */
  from: number;
  to: number;
  overdue: boolean;
}

/** When each query's next watermark is expected: mean ± two standard deviations, on one scale from now on. Without a prediction null. */
export function dueOf(rows: ScheduledRow[]): (Due | null)[] {
  const spans = rows.map(({ why: { expected_ms, sigma_ms = 0 } }) =>
    expected_ms === undefined ? null : ([expected_ms - 2 * sigma_ms, expected_ms + 2 * sigma_ms] as const),
  );
  const end = Math.max(1, ...spans.map((span) => span?.[1] ?? 0));
  const share = (ms: number) => Math.max(0, Math.min(1, ms / end));
  return spans.map((span) => span && { from: share(span[0]), to: share(span[1]), overdue: span[1] < 0 });
}

export const stateOf = ({ runs, waiting }: ScheduledRow) => (runs ? "Runs" : waiting ? "Passed over" : "Empty");

/** Why a query runs in this cycle, or does not, in a sentence. */
export function reason(row: ScheduledRow, rows: ScheduledRow[]): string {
  const ahead = rows.filter(({ rank, runs }) => runs && rank < row.rank).map(({ query }) => query);
  const shown = ahead.length > 3 ? `${ahead.slice(0, 2).join(", ")} and ${ahead.length - 2} more` : ahead.join(", ");
  if (row.waiting === 0) return `${row.query} does not run: nothing waits at its operators.`;
  if (row.runs) return ahead.length ? `${row.query} runs: ${shown} ${ahead.length > 1 ? "leave" : "leaves"} it a core.` : `${row.query} runs: it comes first.`;
  return ahead.length ? `${row.query} is passed over: the cores go to ${shown}.` : `${row.query} is passed over: the policy holds the cores for others.`;
}

export interface CoresByFrame {
  query: string;
  /** By frame; null: not known. */
  cores: (number | null)[];
}

/** How many cores served each query of a host in the last `most` frames up to n, by name. */
export function coresByFrame(log: FrameLog, host: string, n: number, most: number): CoresByFrame[] {
  return byName(log.names("scheduling", "hosts", host, "queries")).map((query) => ({ query, cores: coresOf(log, host, query, n, most) }));
}

const coresOf = (log: FrameLog, host: string, query: string, n: number, most: number): (number | null)[] =>
  growthOf(log, log.column("scheduling", "hosts", host, "queries", query, "busy_s"), n, most);

/** Growth of a time in use over that of virtual time, frame by frame. */
function growthOf(log: FrameLog, spent_s: Float64Array, n: number, most: number): (number | null)[] {
  const first = Math.max(0, n - most + 1);
  const t_s = log.column("t_s");
  const at = (column: ArrayLike<number | undefined>, k: number) => (k < 0 ? 0 : (column[k] ?? NaN));
  return Array.from({ length: n - first + 1 }, (_, k) =>
    numberOf((at(spent_s, first + k) - at(spent_s, first + k - 1)) / (at(t_s, first + k) - at(t_s, first + k - 1))),
  );
}

/** Watermarks of one source instance: what is known of them at a frame, and how the last ones came. */
export interface WatermarkRow {
  query: string;
  /** The source instance, where the query has several on the host; otherwise empty. */
  input: string;
  epochs: number;
  period_ms: number | null;
  delay_ms: number | null;
  delay_sd_ms: number | null;
  /** Of the last prediction that was compared. */
  width_ms: number | null;
  /** By watermark, when it came: -1 and 1 are the ends of its predicted interval. */
  arrivals: number[];
}

/** The last watermarks of a host's sources up to frame n, at most so many of each, by query. */
export function watermarksOf(log: FrameLog, host: string, n: number, most: number): WatermarkRow[] {
  const place = ["scheduling", "hosts", host, "queries"];
  return byName(log.names(...place)).flatMap((query) => {
    const inputs = byName(log.names(...place, query, "inputs"));
    return inputs.map((input) => {
      const at = (field: string) => [...place, query, "inputs", input, field];
      const value = (field: string) => numberOf(log.column(...at(field))[log.lastWith(n, ...at(field))]);
      const [low_s, high_s] = [value("low_s"), value("high_s")];
      return {
        query,
        input: inputs.length > 1 ? input : "",
        epochs: value("epochs") ?? 0,
        period_ms: value("period_ms"),
        delay_ms: value("delay_ms"),
        delay_sd_ms: value("delay_sd_ms"),
        width_ms: low_s === null || high_s === null ? null : 1000 * (high_s - low_s),
        arrivals: arrivalsOf(["taken_s", "low_s", "high_s"].map((field) => log.column(...at(field))) as Three, n, most),
      };
    });
  });
}

type Three = [Float64Array, Float64Array, Float64Array];

/** A frame repeats the last watermark until the next one comes. */
function arrivalsOf([taken_s, low_s, high_s]: Three, n: number, most: number): number[] {
  const found: number[] = [];
  for (let k = n; k >= 0 && found.length < most; k--) {
    const [taken = NaN, low = NaN, high = NaN] = [taken_s[k], low_s[k], high_s[k]];
    if (Number.isNaN(taken) || taken === taken_s[k - 1]) continue;
    const [middle, half] = [(low + high) / 2, (high - low) / 2];
    found.unshift(half > 0 ? (taken - middle) / half : taken === middle ? 0 : Math.sign(taken - middle) * Infinity);
  }
  return found;
}

/** How many watermarks came within their intervals. */
export const hitsOf = ({ arrivals }: WatermarkRow): number => arrivals.filter((at) => Math.abs(at) <= 1).length;

export interface MemoryByFrame {
  /** Of the memory in use, as shares of the budget; null: not known. */
  used: (number | null)[];
  /** By frame, in which share of its time memory was freed first. */
  freeing: (number | null)[];
  /** The share from which on the policy frees memory; null: it never does. */
  threshold: number | null;
}

/** Memory of a host in the last `most` frames up to n; null if it has no budget. */
export function memoryByFrame(log: FrameLog, document: Pick<ExperimentDocument, "policies">, host: ScheduledHost, n: number, most: number): MemoryByFrame | null {
  const budget = host.memory_budget_bytes;
  if (budget === null) return null;
  const used_bytes = log.column("hosts", host.name, "memory", "used_bytes");
  const first = Math.max(0, n - most + 1);
  const threshold = inForce(document, host.t_s).memory_threshold;
  return {
    used: Array.from({ length: n - first + 1 }, (_, k) => {
      const used = numberOf(used_bytes[first + k]);
      return used === null ? null : used / budget;
    }),
    freeing: growthOf(log, log.column("scheduling", "hosts", host.name, "memory_mode_s"), n, most),
    threshold: typeof threshold === "number" ? threshold : null,
  };
}

const numberOf = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value);

const byName = (names: string[]) => names.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
