/** Runs side by side: their series on one time axis, what differs in their documents, and their figures against the first. */
import type { Frame, Json, Run } from "../api/types";
import type { Column } from "./series";
import { escapePointer } from "./validate";

export const COMPARED_MIN = 2;
export const COMPARED_MAX = 4;

export const compareLink = (ids: readonly string[]) => (ids.length ? `/compare?runs=${ids.join(",")}` : "/compare");

/** Ids in an address: each once, at most as many as can be compared. */
export const idsOf = (text: string): string[] => [...new Set(text.split(",").filter(Boolean))].slice(0, COMPARED_MAX);

/** A series over virtual time of one run. */
export interface Series {
  t_s: number[];
  values: Column;
}

export const seriesOf = (frames: Frame[], pick: (frame: Frame) => number | null | undefined): Series => ({
  t_s: frames.map((frame) => frame.t_s),
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
}

const FIGURES: [label: string, path: string, unit: Unit][] = [
  ["Latency, mean", "latency_ms.mean", "ms"],
  ["Latency, p50", "latency_ms.p50", "ms"],
  ["Latency, p95", "latency_ms.p95", "ms"],
  ["Latency, p99", "latency_ms.p99", "ms"],
  ["Latency, max", "latency_ms.max", "ms"],
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

/** The figures of the runs' summaries, after warm-up; those that no run has, or that are nought in all, are left out. */
export function figureRows(runs: readonly Pick<Run, "summary">[]): FigureRow[] {
  return FIGURES.map(([label, path, unit]) => {
    const values = runs.map((run) => numberAt(run.summary, path));
    return { label, unit, values, changes: values.map((value) => change(values[0] ?? null, value)) };
  }).filter(({ values, unit }) => values.some((value) => value !== null && (value !== 0 || unit !== "count")));
}

function numberAt(tree: unknown, path: string): number | null {
  const found = path.split(".").reduce<unknown>((inner, name) => (inner as { [name: string]: unknown } | null)?.[name], tree);
  return typeof found === "number" ? found : null;
}

function change(from: number | null, to: number | null): number | null {
  if (from === null || to === null) return null;
  return from === to ? 0 : from === 0 ? null : (to - from) / Math.abs(from);
}
