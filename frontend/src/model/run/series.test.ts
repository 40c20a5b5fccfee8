import { describe, expect, it } from "vitest";
import { mean, rateSummary, totalOf } from "../document/rates";
import { frame, operatorSample, smallDocument } from "../document/testing";
import { chartOf, chartsNamed, largestOperators, operatorSums, type ChartChoice } from "./charts";
import { runEvents } from "./events";
import { FrameLog, logOf } from "./frames";
import { SUM_PARTS } from "./parts";
import { linearTop, logAxis, lone, median, Series, spanIn, spansMoreThanADecade, stacked, timeTicks, zoomed } from "./series";

const choice: ChartChoice = { id: "latency", latency: "", definition: "", operator: "", operators: [], parallelism: {} };
const drawn = (log: FrameLog, changes: Partial<ChartChoice>) => new Series(log, chartOf({ ...choice, ...changes }).lines).upTo(log.count);

const NEITHER = { checkpoints: false, workers: false };
const PROTOCOL = { checkpoints: true, workers: false };

describe("frames", () => {
  it("adds what follows on and skips what is there", () => {
    const log = logOf([frame(0), frame(1)]);
    expect(log.add([frame(1), frame(2)])).toBe(true);
    expect([log.count, log.gaps, log.head_s]).toEqual([3, 0, 0.75]);
  });

  it("notices a gap and keeps what came before it", () => {
    const log = new FrameLog();
    expect(log.add([frame(0), frame(2)])).toBe(false);
    expect([log.count, log.gaps]).toEqual([1, 1]);
  });

  it("knows the last frame with a value", () => {
    const none = { latency_ms: { count: 0, p50: null, p95: null, p99: null, max: null } };
    const log = logOf([frame(0, none), frame(1), frame(2, none), frame(3, none)]);
    expect([0, 1, 2, 3, 9].map((n) => log.lastWith(n, "latency_ms", "p50"))).toEqual([-1, 1, 1, 1, 1]);
    expect(log.lastWith(3, "nothing")).toBe(-1);
  });

  it("gives every frame back as it came", () => {
    const memory = { used_bytes: 1, peak_bytes: 2, slow_down: 1, full: true };
    const host = { busy: 0.5, queue: 0, egress_mbit_per_s: null };
    const death = { host: "w2", at_s: 1.5, used_bytes: 3, limit_bytes: 2, restart_at_s: null };
    const frames = Array.from({ length: 600 }, (_, n) =>
      frame(n, {
        backlog: n % 3 ? n : null,
        deaths: n === 7 ? [death] : [],
        operators: { join: operatorSample({ queue: n, watermark_lag_ms: n % 2 ? null : n }) },
        hosts: { w1: { ...host, memory: n % 2 ? memory : null }, w2: { ...host, memory: null } },
      }),
    );
    const log = logOf(frames);
    for (const n of [0, 1, 7, 255, 256, 599]) expect(log.frame(n)).toEqual(frames[n]);
    expect(log.frame(600)).toBeUndefined();
    expect(log.deaths()).toEqual([death]);
  });

  it("finds the frame that covers a moment", () => {
    const log = logOf([0, 1, 2, 3].map((n) => frame(n)));
    expect([0.25, 0.26, 99].map((t_s) => log.numberAt(t_s))).toEqual([0, 1, 3]);
    expect(new FrameLog().numberAt(1)).toBe(-1);
  });
});

describe("charts", () => {
  it("draw a missing sample as a gap, not as zero", () => {
    const log = logOf([frame(0, { latency_ms: { count: 0, p50: null, p95: null, p99: null, max: null } })]);
    expect(drawn(log, { id: "latency" }).columns).toEqual([[null], [null], [null], [null]]);
    expect(drawn(log, { id: "waiting" }).columns[1]).toEqual([null]);
  });

  it("show another of the latencies in place of the first", () => {
    const log = logOf([frame(0, { latencies_ms: { processing: { count: 1, p50: 7, p95: 8, p99: 9, max: 10 } } })]);
    expect(drawn(log, { latency: "processing" }).columns).toEqual([[7], [8], [9], [10]]);
    expect(drawn(log, {}).columns).toEqual([[1], [2], [3], [4]]);
    expect(drawn(log, { latency: "gone" }).columns[0]).toEqual([null]);
  });

  it("read only the frames that are new", () => {
    const log = logOf([frame(0)]);
    const series = new Series(log, chartOf(choice).lines);
    expect(series.upTo(1).columns[0]).toEqual([1]);
    log.add(Array.from({ length: 300 }, (_, n) => frame(n + 1)));
    expect(series.upTo(301).columns[0]).toHaveLength(301);
    expect(series.upTo(301).t_s.at(-1)).toBe(log.head_s);
  });

  it("stack where the time went: shares of all records, or the mean of one operator's", () => {
    const attribution = {
      records: 2,
      sent: 4,
      driver_queue_ns: 0,
      channel_wait_ns: 4e6,
      alignment_ns: 0,
      service_ns: 6e6,
      stolen_ns: 2e6,
      blocked_ns: 0,
      network_ns: 8e6,
    };
    const log = logOf([frame(0, { operators: { a: operatorSample({ attribution }), b: operatorSample({ attribution }) } }), frame(1)]);
    const shares = drawn(log, { id: "attribution" }).columns;
    expect(shares.map((column) => column[1])).toEqual(SUM_PARTS.map(() => null));
    expect(shares.reduce((sum, column) => sum + (column[0] ?? 0), 0)).toBeCloseTo(100);
    expect(stacked(shares).at(-1)?.[0]).toBeCloseTo(100);
    const means = drawn(log, { id: "attribution", operator: "a" }).columns.map((column) => column[0]);
    expect(means).toEqual([0, 2, 0, 2, 1, 0, 2]);
    expect(operatorSums(log, 0)[1]).toEqual({ id: "b", records: 2, sent: 4, parts: [0, 4e6, 0, 4e6, 2e6, 0, 8e6] });
  });

  it("have a line for each operator that has something, the largest first where there are too many", () => {
    const document = smallDocument();
    const log = logOf([frame(0, { operators: { join: operatorSample({ state_bytes: 5 }), filter: operatorSample({ queue: 9 }) } })]);
    expect(largestOperators(log, document, "state")).toEqual(["join"]);
    expect(largestOperators(log, document, "queues")).toEqual(["filter", "join"]);
    expect(drawn(log, { id: "queues", operators: ["filter"] }).columns).toEqual([[9]]);
    expect(drawn(log, { id: "busy", operators: ["filter"] }).columns).toEqual([[10]]);
    expect(drawn(log, { id: "parallelism", operators: ["filter"], parallelism: { filter: 3 } }).columns).toEqual([[3]]);
  });

  it("are named in the address, the usual ones where it names none", () => {
    expect(chartsNamed("state,latency,nonsense,checkpoints", NEITHER)).toEqual(["latency", "state"]);
    expect(chartsNamed("state,latency,nonsense,checkpoints", PROTOCOL)).toEqual(["latency", "checkpoints", "state"]);
    expect(chartsNamed(null, NEITHER)).toEqual(chartsNamed("nonsense", NEITHER));
    expect(chartsNamed(null, PROTOCOL)).toContain("checkpoints");
    expect(chartsNamed(null, NEITHER)).not.toContain("checkpoints");
    expect(chartsNamed("workers,latency", NEITHER)).toEqual(["latency"]);
    expect(chartsNamed(null, { checkpoints: false, workers: true })).toContain("workers");
  });
});

describe("scales", () => {
  it("goes logarithmic beyond a decade", () => {
    expect(
      spansMoreThanADecade([
        [1, 9],
        [null, 2],
      ]),
    ).toBe(false);
    expect(spansMoreThanADecade([[1], [11]])).toBe(true);
  });

  it("labels at most five values, all inside the axis", () => {
    for (const [low, high] of [
      [0.07, 1.3],
      [0.5, 9000],
      [3, 40],
      [1, 1],
    ] as const) {
      const axis = logAxis({ low, high });
      expect(axis.low).toBeLessThanOrEqual(low);
      expect(axis.high).toBeGreaterThanOrEqual(high);
      expect(axis.ticks.length).toBeGreaterThan(0);
      expect(axis.ticks.length).toBeLessThanOrEqual(5);
    }
    for (const high of [0, 0.3, 4, 7321, 12_000_000]) {
      const { top, step } = linearTop(high);
      expect(top).toBeGreaterThan(high);
      expect(top / step).toBeLessThanOrEqual(6);
    }
    expect(timeTicks(30)).toEqual([0, 5, 10, 15, 20, 25, 30]);
    expect(timeTicks(16, 4, 11)).toEqual([12, 14, 16]);
    expect(median(new Float64Array([3, NaN, 1, 2, 99]), 4)).toBe(2);
    expect(median(new Float64Array([NaN]), 1)).toBeNull();
  });

  it("zooms around a moment, inside the whole, and out to all of it", () => {
    const whole = { from_s: 0, to_s: 100 };
    expect(zoomed(whole, 0.5, 20, whole, 1)).toEqual({ from_s: 10, to_s: 60 });
    expect(zoomed({ from_s: 10, to_s: 12 }, 0.5, 10, whole, 2)).toEqual({ from_s: 10, to_s: 12 });
    expect(zoomed({ from_s: 10, to_s: 60 }, 2.5, 20, whole, 1)).toBeNull();
  });

  it("reads a stretch from an address, and none that lies outside the run", () => {
    const read = (text: string) => spanIn(new URLSearchParams(text), 30);
    expect(read("from=2&to=3.5")).toEqual({ from_s: 2, to_s: 3.5 });
    expect(read("from=20&to=40")).toEqual({ from_s: 20, to_s: 30 });
    for (const text of ["", "from=2", "from=3&to=2", "from=x&to=2", "from=-1&to=2", "from=30&to=40", "from=1000&to=1e400"]) expect(read(text), text).toBeNull();
  });
});

describe("rates", () => {
  it("adds up what the sources offer, part by part", () => {
    const total = totalOf([
      [
        [0.5, 10],
        [1.5, 30],
      ],
      [
        [0.5, 1],
        [1.5, 0],
      ],
    ]);
    expect(total).toEqual([
      [0.5, 11],
      [1.5, 30],
    ]);
    expect(mean(total ?? [])).toBe(20.5);
    expect(totalOf([])).toBeNull();
  });

  it("names any kind in lists", () => {
    expect(rateSummary({ kind: "random_walk" })).toBe("random walk");
    expect(rateSummary({ kind: "constant", per_s: 2500 })).toBe("2,500/s");
  });
});

describe("events", () => {
  it("names the start and the end of backpressure", () => {
    const frames = [0, 0.7, 0.6, 0.1].map((blocked, n) => frame(n, { operators: { filter: operatorSample({ blocked }) } }));
    const run = { state: "running", created_at: "2026-01-01T00:00:00Z", started_at: null, finished_at: null, t_s: 1, error: null } as never;
    const texts = runEvents(run, logOf(frames), 0).map((event) => event.text);
    expect(texts).toContain("filter blocked by backpressure");
    expect(texts[0]).toBe("filter flows again");
  });

  it("names the hosts that died of what they held", () => {
    const death = { host: "w2", at_s: 1.5, used_bytes: 3_200_000, limit_bytes: 3_000_000, restart_at_s: 6.5 };
    const frames = [frame(0, { deaths: [death] }), frame(1, { deaths: [{ ...death, at_s: 7, restart_at_s: null }] })];
    const run = { state: "running", created_at: "2026-01-01T00:00:00Z", started_at: null, finished_at: null, t_s: 8, error: null } as never;
    const [last, first] = runEvents(run, logOf(frames), 0);
    expect(first).toMatchObject({ t_s: 1.5, text: "w2 died: 3.2 MB of memory used, above its limit of 3 MB", detail: "restart at 6.50 s" });
    expect(last).toMatchObject({ t_s: 7, detail: "permanently" });
  });
});

describe("lone samples", () => {
  it("are those that no line leads to", () => {
    expect(lone([1, null, 2, 3, null, 4, null, null, 5], 0, 8)).toEqual([0, 5, 8]);
    expect(lone([null, 1, 2, null], 0, 3)).toEqual([]);
    expect(lone([null, undefined, 1, undefined, null, 2, undefined, 3], 0, 7)).toEqual([2]);
    expect(lone([7], 0, 0)).toEqual([0]);
    expect(lone([], 0, 0)).toEqual([]);
  });

  it("are looked for where they are shown, and know what is beyond", () => {
    expect(lone([1, null, 2, 3, null, 4], 2, 2)).toEqual([]);
    expect(lone([1, null, 2, 3, null, 4], 5, 5)).toEqual([5]);
  });
});
