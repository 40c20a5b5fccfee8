/** What a frame says of the queries that the document names, and of their copies. */
import type { FrameLog } from "./frames";

export interface QueryRow {
  name: string;
  /** Of the last frame with deliveries; null without one. */
  mean_ms: number | null;
  p99_ms: number | null;
  in_per_s: number;
  out_per_s: number;
  served_per_s: number;
  queue: number;
  late: number;
  copies: CopyRow[];
}

export interface CopyRow {
  name: string;
  mean_ms: number | null;
  out_per_s: number;
  queue: number;
}

/** The queries at frame n. One with long windows delivers now and then: its latency is that of the last frame with a delivery. */
export function queryRows(log: FrameLog, n: number): QueryRow[] {
  const last = (...path: string[]) => log.column("queries", ...path)[log.lastWith(n, "queries", ...path)] ?? null;
  return Object.entries(log.frame(n)?.queries ?? {}).map(([name, { latency_ms: _now, copies, latencies_ms: _further, ...rest }]) => ({
    name,
    mean_ms: last(name, "latency_ms", "mean"),
    p99_ms: last(name, "latency_ms", "p99"),
    ...rest,
    copies: Object.entries(copies ?? {}).map(([copy, values]) => ({ name: copy, ...values, mean_ms: last(name, "copies", copy, "mean_ms") })),
  }));
}

export type CopyOrder = "name" | "mean_ms" | "out_per_s" | "queue";

/** The copies by a column, the largest first, those without a value last; by name as they were drawn. */
export function orderedCopies(copies: CopyRow[], order: CopyOrder): CopyRow[] {
  if (order === "name") return copies;
  return [...copies].sort((a, b) => (b[order] ?? -1) - (a[order] ?? -1));
}
