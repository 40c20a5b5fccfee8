/** Local stores of a run and their changelogs: what frames tell of them. */
import type { ExperimentDocument } from "../../api/document";
import type { CleanerSample, StateNews, StoreSample } from "../../api/types";
import type { FrameLog } from "./frames";

/** Whether operators keep their state in stores with a changelog. */
export const hasStores = (document: Pick<ExperimentDocument, "policies">) => {
  const state = (document.policies as { state?: { kind?: unknown } } | undefined)?.state;
  return typeof state?.kind === "string" && state.kind.startsWith("changelog");
};

export interface Log {
  name: string;
  clean_bytes: number;
  dirty_bytes: number;
  active_bytes: number;
  dirty_ratio: number;
  /** The number of the thread that cleans it; null: none does. */
  thread: string | null;
}

export interface Cleaner {
  number: string;
  /** What it does, in words. */
  does: string;
  asleep: boolean;
}

export interface StoresAt {
  t_s: number;
  news: StateNews;
  logs: Log[];
  cleaners: Cleaner[];
  stores: [name: string, store: StoreSample][];
}

/** What a frame tells, null if it tells nothing. */
export function storesAt(log: FrameLog, n: number, sized: (bytes: number) => string): StoresAt | null {
  const frame = log.frame(n);
  const news = frame?.state;
  if (!frame || !news) return null;
  const stores = Object.entries(news.stores);
  const threads = Object.entries(news.cleaners ?? {});
  return {
    t_s: frame.t_s,
    news,
    stores,
    logs: stores.map(([name, store], number) => ({
      name,
      clean_bytes: store.clean_bytes,
      dirty_bytes: store.dirty_bytes,
      active_bytes: store.log_bytes - store.clean_bytes - store.dirty_bytes,
      dirty_ratio: store.dirty_ratio,
      thread: threads.find(([, { log: cleaned }]) => cleaned === number)?.[0] ?? null,
    })),
    cleaners: threads.map(([number, thread]) => ({ number, ...doing(thread, stores, sized) })),
  };
}

function doing({ log, until_s, bytes }: CleanerSample, stores: StoresAt["stores"], sized: (bytes: number) => string): Omit<Cleaner, "number"> {
  const cleaned = log === null || Number.isNaN(log) ? undefined : stores[log]?.[0];
  return cleaned === undefined
    ? { does: `asleep until ${until_s.toFixed(1)} s`, asleep: true }
    : { does: `cleans ${cleaned}, ${sized(bytes)}, until ${until_s.toFixed(2)} s`, asleep: false };
}

/** A field of the frames up to one, as many as are asked for, with the largest value. */
export interface Values {
  from_s: number;
  to_s: number;
  values: number[];
  most: number;
}

export function strip(log: FrameLog, part: "state" | "output_logs" | "standbys", field: string, n: number, frames: number): Values {
  const column = log.column(part, field);
  const first = Math.max(0, n + 1 - frames);
  const values = Array.from({ length: n + 1 - first }, (_, k) => column[first + k] || 0); // a frame without the field counts as 0
  return { from_s: first ? log.timeOf(first - 1) : 0, to_s: log.timeOf(n), values, most: Math.max(0, ...values) };
}

/** Records of its log that a restore would read if it crashed now: with its disk, and without. */
export const readAfterACrash = ({ behind, records, disk_bytes }: StoreSample) =>
  disk_bytes ? `${behind.toLocaleString("en")} / ${records.toLocaleString("en")}` : records.toLocaleString("en");
