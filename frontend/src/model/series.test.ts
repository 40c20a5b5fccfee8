import { describe, expect, it } from "vitest";
import { runEvents } from "./events";
import { addFrames, emptyLog, frameAt } from "./frames";
import { mean, rateSummary, totalOf } from "./rates";
import { columnsOf, linearTop, logAxis, median, spansMoreThanADecade, timeTicks, withLatency } from "./series";
import { frame } from "./testing";

describe("frames", () => {
  it("adds what follows on and skips what is there", () => {
    const first = addFrames(emptyLog(), [frame(0), frame(1)]);
    const second = addFrames(first.log, [frame(1), frame(2)]);
    expect(second.log.frames.map((one) => one.n)).toEqual([0, 1, 2]);
    expect(second.missingFrom).toBeNull();
  });

  it("notices a gap and keeps what came before it", () => {
    const { log, missingFrom } = addFrames(emptyLog(), [frame(0), frame(2)]);
    expect(log.frames).toHaveLength(1);
    expect(missingFrom).toBe(1);
    expect(log.gaps).toBe(1);
  });

  it("finds the frame that covers a moment", () => {
    const frames = [0, 1, 2, 3].map((n) => frame(n));
    expect(frameAt(frames, 0.25)?.n).toBe(0);
    expect(frameAt(frames, 0.26)?.n).toBe(1);
    expect(frameAt(frames, 99)?.n).toBe(3);
    expect(frameAt([], 1)).toBeUndefined();
  });
});

describe("scales", () => {
  it("draws a missing sample as a gap, not as zero", () => {
    const columns = columnsOf([frame(0, { latency_ms: { count: 0, p50: null, p95: null, p99: null, max: null } })]);
    expect(columns.latency[0]).toEqual([null]);
    expect(columns.queues[1]).toEqual([null]);
  });

  it("shows another of the latencies in place of the first", () => {
    const both = frame(0, { latencies_ms: { processing: { count: 1, p50: 7, p95: 8, p99: 9, max: 10 } } });
    expect(columnsOf(withLatency([both], "processing")).latency).toEqual([[7], [8], [9]]);
    expect(columnsOf(withLatency([both], "")).latency).toEqual([[1], [2], [3]]);
    expect(columnsOf(withLatency([both], "gone")).latency[0]).toEqual([null]);
  });

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
    expect(median([3, null, 1, 2])).toBe(2);
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
    const sample = (blocked: number) => ({
      in_per_s: 1,
      out_per_s: 1,
      busy: 0.1,
      blocked,
      queue: 0,
      state_bytes: 0,
      watermark_lag_ms: null,
      late: 0,
    });
    const frames = [0, 0.7, 0.6, 0.1].map((blocked, n) => frame(n, { operators: { filter: sample(blocked) } }));
    const run = { state: "running", created_at: "2026-01-01T00:00:00Z", started_at: null, finished_at: null, t_s: 1, error: null } as never;
    const texts = runEvents(run, frames, 0).map((event) => event.text);
    expect(texts).toContain("filter blocked by backpressure");
    expect(texts[0]).toBe("filter flows again");
  });

  it("names the hosts that died of what they held", () => {
    const death = { host: "w2", at_s: 1.5, used_bytes: 3_200_000, limit_bytes: 3_000_000, restart_at_s: 6.5 };
    const frames = [frame(0, { deaths: [death] }), frame(1, { deaths: [{ ...death, at_s: 7, restart_at_s: null }] })];
    const run = { state: "running", created_at: "2026-01-01T00:00:00Z", started_at: null, finished_at: null, t_s: 8, error: null } as never;
    const [last, first] = runEvents(run, frames, 0);
    expect(first).toMatchObject({ t_s: 1.5, text: "w2 died: 3.2 MB of memory used, above its limit of 3 MB", detail: "restart at 6.50 s" });
    expect(last).toMatchObject({ t_s: 7, detail: "for ever" });
  });
});
