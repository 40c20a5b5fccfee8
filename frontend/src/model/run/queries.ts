/** What a frame says of the queries that the document names, and of their copies. */
import type { Frame } from "../../api/types";

export interface QueryRow {
  name: string;
  /** Of the deliveries in the frame; null without one. */
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

export function queryRows(frame: Frame | undefined): QueryRow[] {
  return Object.entries(frame?.queries ?? {}).map(([name, { latency_ms, copies, latencies_ms: _further, ...rest }]) => ({
    name,
    mean_ms: latency_ms.mean ?? null,
    p99_ms: latency_ms.p99,
    ...rest,
    copies: Object.entries(copies ?? {}).map(([copy, values]) => ({ name: copy, ...values })),
  }));
}

export type CopyOrder = "name" | "mean_ms" | "out_per_s" | "queue";

/** The copies by a column, the largest first, those without a value last; by name as they were drawn. */
export function orderedCopies(copies: CopyRow[], order: CopyOrder): CopyRow[] {
  if (order === "name") return copies;
  return [...copies].sort((a, b) => (b[order] ?? -1) - (a[order] ?? -1));
}
