/** Runs side by side: their series on one time axis, what differs in their documents, and their figures against the first. */
import type { ExperimentDocument } from "../../api/document";
import type { Baseline, ComparedSide, Frame, Json, Run } from "../../api/types";
import { relativeChange } from "../../lib/change";
import { faultMarks } from "../document/faults";
import { escapePointer } from "../document/validate";
import { isScaled } from "./scaling";
import type { Column } from "./series";

export const COMPARED_MIN = 2;
export const COMPARED_MAX = 4;

export const compareLink = (ids: readonly string[]) => (ids.length ? `/compare?runs=${ids.join(",")}` : "/compare");

/**
 * Chosen runs in the order in which they are compared: the baseline of their experiment first, also where it was not chosen and there is
 * room for it, then by number. Runs of several experiments have no baseline in common.
 */
export function withBaseline(runs: readonly Pick<Run, "id" | "number" | "experiment">[], baselines: ReadonlyMap<string, Baseline>): string[] {
  const ids = [...runs].sort((a, b) => a.number - b.number).map(({ id }) => id);
  const experiments = new Set(runs.map(({ experiment }) => experiment.id));
  const base = experiments.size === 1 ? baselines.get([...experiments][0] ?? "")?.run : undefined;
  if (!base || (!ids.includes(base) && ids.length >= COMPARED_MAX)) return ids;
  return [base, ...ids.filter((id) => id !== base)];
}

/** Ids in an address: each once, at most as many as can be compared. */
export const idsOf = (text: string): string[] => [...new Set(text.split(",").filter(Boolean))].slice(0, COMPARED_MAX);

/** On what runs are laid over each other: virtual time, or an event of each. */
export const ALIGNMENTS = [
  { id: "", label: "Time", lacks: "" },
  { id: "fault", label: "First fault", lacks: "no fault" },
  { id: "fork", label: "Fork", lacks: "no fork" },
  { id: "own", label: "Chosen moments", lacks: "" },
] as const;
export type Alignment = (typeof ALIGNMENTS)[number]["id"];

export const alignmentOf = (text: string): Alignment => ALIGNMENTS.find(({ id }) => id === text)?.id ?? "";

/** Moments in an address, in s, by place; 0 where there is none. */
export const momentsIn = (text: string, count: number): number[] =>
  Array.from({ length: count }, (_, at) => Number(text.split(",")[at]) || 0).map((moment_s) => Math.max(0, moment_s));

type Aligned = { run: Pick<Run, "id" | "document" | "horizon_s" | "parent" | "fork_at_s">; frames: Frame[] };

/** When the event is in each run, in s; null where a run has none. own: moments that were chosen. */
export function momentsOf(alignment: Alignment, runs: Aligned[], own: number[]): (number | null)[] {
  if (alignment === "own") return own;
  if (alignment === "fault") return runs.map(firstFault);
  if (alignment === "fork") return runs.map((one) => forkOf(one, runs));
  return runs.map(() => 0);
}

/** The first that was wanted at a known time, or the first host that died. */
function firstFault({ run, frames }: Aligned): number | null {
  const wanted = run.document ? faultMarks(run.document as unknown as ExperimentDocument, [], run.horizon_s ?? Infinity) : [];
  const times = [...wanted.map(({ start_s }) => start_s), ...frames.flatMap(({ deaths = [] }) => deaths.map(({ at_s }) => at_s))];
  return times.length ? Math.min(...times) : null;
}

/** Where it was forked from another run, or the first of the others was forked from it. */
function forkOf({ run }: Aligned, all: Aligned[]): number | null {
  if (typeof run.fork_at_s === "number") return run.fork_at_s;
  const times = all.flatMap(({ run: other }) => (other.parent === run.id && typeof other.fork_at_s === "number" ? [other.fork_at_s] : []));
  return times.length ? Math.min(...times) : null;
}

/** A series over virtual time of one run. */
export interface Series {
  t_s: number[];
  values: Column;
}

/** zero_s: the moment of the run that counts as 0. */
export const seriesOf = (frames: Frame[], pick: (frame: Frame) => number | null | undefined, zero_s = 0): Series => ({
  t_s: frames.map((frame) => (zero_s ? Number((frame.t_s - zero_s).toFixed(9)) : frame.t_s)),
  values: frames.map((frame) => pick(frame) ?? null),
});

/**
 * Series of runs with frames of different lengths on one axis: all times that any of them has. A run has null where it measured nothing,
 * and is skipped (undefined) at times that only others have.
 */
export function onOneAxis(series: Series[]): { t_s: number[]; columns: (number | null | undefined)[][] } {
  const t_s = [...new Set(series.flatMap((one) => one.t_s))].sort((a, b) => a - b);
  const at = new Map(t_s.map((time, index) => [time, index]));
  const columns = series.map((one) => {
    const column: (number | null | undefined)[] = new Array(t_s.length).fill(undefined);
    one.t_s.forEach((time, index) => (column[at.get(time) as number] = one.values[index] ?? null));
    return column;
  });
  return { t_s, columns };
}

/** Records that wait in the logs and in front of operators. */
export function waitingRecords(frame: Frame): number | null {
  const queues = Object.values(frame.operators ?? {}).map((sample) => sample.queue ?? null);
  const counts = [frame.backlog, ...queues].filter((count) => count !== null && count !== undefined);
  return counts.length ? counts.reduce((sum, count) => sum + count, 0) : null;
}

/** The value that holds at a moment: of the first frame that ends at or after it. Null after the end. */
export function valueAt(series: Series, moment_s: number): number | null {
  const at = series.t_s.findIndex((time) => time >= moment_s - 1e-9);
  return at < 0 ? null : (series.values[at] ?? null);
}

export interface ParameterRow {
  /** JSON pointer of a value that is no object and no list. */
  pointer: string;
  /** By document; undefined where it has no such field. */
  values: (Json | undefined)[];
}

/** How a document is drawn, and what it is called, are no parameters. */
const NO_PARAMETERS = ["/ui", "/name", "/description"];

/** The values of all documents by JSON pointer, in the order of the first; only those that differ, if wanted. */
export function parameterRows(documents: readonly unknown[], onlyDifferent: boolean): ParameterRow[] {
  const leaves = documents.map((document) => new Map(leavesOf(document)));
  const pointers = new Set(leaves.flatMap((one) => [...one.keys()]));
  const rows = [...pointers].map((pointer) => ({ pointer, values: leaves.map((one) => one.get(pointer)) }));
  return onlyDifferent ? rows.filter(({ values }) => values.some((value) => value !== values[0])) : rows;
}

/** By document, the kinds that it does not share with all others: its policy, where policies are compared, and its way of rescaling. */
export function kindsOf(documents: readonly unknown[]): string[] {
  const rows = parameterRows(documents, true).filter(({ pointer }) => pointer === RESCALING || /^\/policies\/[^/]+\/kind$/.test(pointer));
  const unsaid = (pointer: string, document: unknown) => (pointer === RESCALING ? implied(pointer, document) : "none");
  return documents.map((document, at) =>
    rows
      .map(({ pointer, values }) => String(values[at] ?? unsaid(pointer, document)).replace(/_/g, " "))
      .filter(Boolean)
      .join(", "),
  );
}

const RESCALING = "/policies/scaling/rescaling/kind";

/** What holds in a document that does not say it: the way of rescaling, where there is any. "" where nothing does. */
export const implied = (pointer: string, document: unknown): string =>
  pointer === RESCALING && isScaled(document as ExperimentDocument) ? "stop_and_restart" : "";

function leavesOf(value: unknown, pointer = ""): [string, Json][] {
  if (NO_PARAMETERS.includes(pointer)) return [];
  if (typeof value !== "object" || value === null) return [[pointer, value as Json]];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, `${pointer}/${escapePointer(name)}`));
}

/** The name of what a list's index in a pointer stands for: the operator's id, the host's name. Empty if there is none. */
export function placeOf(pointer: string, documents: readonly unknown[]): string {
  const [, list, index] = /^((?:\/[^/]+)*\/(?:operators|hosts|edges|faults))\/(\d+)\//.exec(pointer) ?? [];
  if (!list) return "";
  for (const document of documents) {
    const one = [...list.split("/").slice(1), index].reduce<unknown>(
      (inner, name) => (inner as { [name: string]: unknown } | undefined)?.[name as string],
      document,
    ) as { [name: string]: unknown } | undefined;
    const name = one?.id ?? one?.name ?? (one?.source && one.target ? `${String(one.source)} → ${String(one.target)}` : one?.kind);
    if (typeof name === "string") return name;
  }
  return "";
}

export type Unit = "ms" | "per_s" | "count" | "s";

export interface FigureRow {
  label: string;
  unit: Unit;
  values: (number | null)[];
  /** Relative to the first run: 0.1 is a tenth more; null where there is none. */
  changes: (number | null)[];
  /** How sure each change is; null where one run on a side shows no confidence. */
  sure: (Sure | null)[];
}

/** low, high: bounds of the change, null where the baseline is 0. p: of a test that there is no difference. */
export interface Sure {
  low: number | null;
  high: number | null;
  p: number;
  pairs: number;
  /** More than chance. */
  distinguishable: boolean;
}

const FIGURES: [label: string, path: string, unit: Unit][] = [
  ["Latency, mean", "latency_ms.mean", "ms"],
  ["Latency, p50", "latency_ms.p50", "ms"],
  ["Latency, p95", "latency_ms.p95", "ms"],
  ["Latency, p99", "latency_ms.p99", "ms"],
  ["Latency, max", "latency_ms.max", "ms"],
  ["Wait in topics, mean", "scaling.wait_s.mean", "s"],
  ["Instances, mean", "scaling.workers_mean", "count"],
  ["Instance hours", "scaling.worker_hours", "count"],
  ["Rescales", "scaling.actions", "count"],
  ["Down", "scaling.down_s", "s"],
  ["Above objective", "scaling.slo_violation_s", "s"],
  ["Throughput in", "throughput_in_per_s", "per_s"],
  ["Throughput out", "throughput_out_per_s", "per_s"],
  ["Records in", "records_in", "count"],
  ["Records out", "records_out", "count"],
  ["Late records", "late", "count"],
  ["Backlog at the end", "backlog", "count"],
  ["Dropped by logs", "dropped", "count"],
  ["Lost with hosts", "lost", "count"],
  ["Shed at ingress", "shed", "count"],
  ["Record hops", "hops", "count"],
];

/** Queries beyond these are in the files and in Summary; a table of a hundred rows compares nothing. */
const QUERIES_MAX = 8;

type Summarised = Pick<Run, "summary">;

/** The figures of all runs, then those of the queries that any of them names. */
function figuresOf(runs: readonly Summarised[]): [label: string, path: string, unit: Unit][] {
  const names = new Set(runs.flatMap(({ summary }) => Object.keys((summary?.queries as object | undefined) ?? {})));
  const ofQueries = [...names].slice(0, QUERIES_MAX).flatMap((name): typeof FIGURES => [
    [`${name}: latency, mean`, `queries.${name}.latency_ms.mean`, "ms"],
    [`${name}: latency, p99`, `queries.${name}.latency_ms.p99`, "ms"],
    [`${name}: slowest copy, mean`, `queries.${name}.slowest_copy_ms`, "ms"],
    [`${name}: throughput out`, `queries.${name}.throughput_out_per_s`, "per_s"],
  ]);
  return [...FIGURES, ...ofQueries];
}

export const comparedMetrics = (runs: readonly Summarised[]) => figuresOf(runs).map(([, path]) => path);

/** The side has several runs: its figures are means. */
export const isWide = (side: ComparedSide | undefined): side is ComparedSide => (side?.runs.length ?? 0) > 1;

/**
 * The figures of the runs' summaries, after warm-up; those that no run has, or that are nought in all, are left out. sides: by place; the
 * figures of those with several runs are means over their seeds.
 */
export function figureRows(runs: readonly Summarised[], sides: readonly (ComparedSide | undefined)[] = []): FigureRow[] {
  return figuresOf(runs).map(([label, path, unit]) => {
    const values = runs.map((run, at) => (isWide(sides[at]) ? (sides[at].over_seeds[path]?.mean ?? null) : numberAt(run.summary, path)));
    const [base = null] = values;
    const sure = runs.map((_, at): Sure | null => {
      const { low = null, high = null, p = null, pairs = 0, distinguishable } = sides[at]?.against[path] ?? {};
      const share = (bound: number | null) => (bound === null || !base ? null : bound / Math.abs(base));
      return p === null ? null : { low: share(low), high: share(high), p, pairs, distinguishable: distinguishable === true };
    });
    return { label, unit, values, changes: values.map((value) => relativeChange(base, value)), sure };
  }).filter(({ values, unit }) => values.some((value) => value !== null && (value !== 0 || unit !== "count")));
}

/** So many seeds a side are offered; an interval from fewer says little. */
const SEEDS_WANTED = 5;

/** The runs that give every side the same seeds: all that any side has, and new ones up to the number wanted. */
export function seedsToRun(runs: readonly Pick<Run, "id" | "seed">[], sides: readonly ComparedSide[]): { run: string; seed: number }[] {
  const had = sides.map((side, at) => new Set([...side.runs.map(({ seed }) => seed), ...side.under_way, runs[at]?.seed ?? 0]));
  const wanted = new Set(had.flatMap((seeds) => [...seeds]));
  for (let seed = 1; wanted.size < SEEDS_WANTED; seed += 1) wanted.add(seed);
  return sides.flatMap(({ run }, at) => [...wanted].filter((seed) => !had[at]?.has(seed)).map((seed) => ({ run, seed })));
}

export function numberAt(tree: unknown, path: string): number | null {
  const found = path.split(".").reduce<unknown>((inner, name) => (inner as { [name: string]: unknown } | null)?.[name], tree);
  return typeof found === "number" ? found : null;
}
