import { describe, expect, it } from "vitest";
import type { Frame, StateNews, StoreSample } from "../../api/types";
import { logOf } from "./frames";
import { hasStores, readAfterACrash, storesAt, strip } from "./stores";

const store = (changes: Partial<StoreSample> = {}): StoreSample => ({
  cached: 10,
  dirty: 3,
  buffer_bytes: 500,
  full_buffers: 0,
  runs: 2,
  disk_bytes: 900,
  write_amplification: 0.5,
  read_amplification: 3,
  log_bytes: 1000,
  clean_bytes: 200,
  dirty_bytes: 700,
  dirty_ratio: 7 / 9,
  segments: 4,
  end: 4000,
  behind: 1500,
  records: 3500,
  ...changes,
});
const news = (changes: Partial<StateNews> = {}): StateNews => ({
  written_bytes: 5,
  appended: 7,
  requests: 7,
  passes: 1,
  commits: 0,
  since_commit_s: 3,
  changelog_bytes: 2000,
  clean_bytes: 400,
  dirty_bytes: 1400,
  active_bytes: 200,
  dirty_ratio: 0.8,
  broker_busy: 0.2,
  worker_busy: 0.1,
  settings: { commit_s: 60, segment_ms: 100, backoff_s: 15, threads: 2, tuning_step: null },
  limits: { dirty: 500, buffer_bytes: 1000, dirty_ratio: 0.5 },
  cleaners: { 1: { log: 1, until_s: 2.5, bytes: 900 }, 2: { log: null, until_s: 17, bytes: 0 } },
  stores: { "a[0]": store(), "a[1]": store({ disk_bytes: 0 }) },
  ...changes,
});
const latency = { count: 0, mean: null, p50: null, p95: null, p99: null, max: null };
const frame = (n: number, state?: StateNews): Frame => ({
  n,
  t_s: n + 1,
  latency_ms: latency,
  offered_per_s: 0,
  in_per_s: 0,
  out_per_s: 0,
  backlog: 0,
  operators: {},
  hosts: {},
  ...(state && { state }),
});

describe("local stores", () => {
  it("are there where the document names a state with a changelog", () => {
    const has = (state?: object) => hasStores({ policies: state ? { state } : {} } as never);
    expect([has(), has({ kind: "memory" }), has({ kind: "changelog" }), has({ kind: "changelog_memory" })]).toEqual([false, false, true, true]);
  });

  it("tell what each log is made of, and which thread cleans it", () => {
    const now = storesAt(logOf([frame(0, news())]), 0, (size) => `${size} B`);
    const sizes = { clean_bytes: 200, dirty_bytes: 700, active_bytes: 100, dirty_ratio: 7 / 9 };
    expect(now?.logs).toEqual([
      { name: "a[0]", ...sizes, thread: null },
      { name: "a[1]", ...sizes, thread: "1" },
    ]);
    expect(now?.cleaners).toEqual([
      { number: "1", does: "cleans a[1], 900 B, until 2.50 s", asleep: false },
      { number: "2", does: "asleep until 17.0 s", asleep: true },
    ]);
    expect(storesAt(logOf([frame(0)]), 0, String)).toBeNull();
    expect(storesAt(logOf([]), -1, String)).toBeNull();
  });

  it("show the last frames up to the moment", () => {
    const log = logOf([1, 8, 2, 5].map((changelog_bytes, n) => frame(n, news({ changelog_bytes }))));
    expect(strip(log, "state", "changelog_bytes", 2, 2)).toEqual({ from_s: 1, to_s: 3, values: [8, 2], most: 8 });
    expect(strip(log, "state", "changelog_bytes", 3, 100)).toEqual({ from_s: 0, to_s: 4, values: [1, 8, 2, 5], most: 8 });
    expect(strip(log, "state", "unknown", 1, 5).most).toBe(0);
  });

  it("say what a crash would make them read", () => {
    expect(readAfterACrash(store())).toBe("1,500 / 3,500");
    expect(readAfterACrash(store({ disk_bytes: 0 }))).toBe("3,500");
  });
});
