import { describe, expect, it } from "vitest";
import type { Waterfall } from "../../api/types";
import { editedSince } from "./edited";
import { inWords, partSums, rowsOf, slowestIn } from "./waterfalls";

const waterfall: Waterfall = {
  sink: "sink",
  instance: 1,
  trigger: 7,
  end_ns: 1100,
  latency_ns: 100,
  parts: [
    { part: "driver_queue", operator: "bids", instance: 0, start_ns: 1000, end_ns: 1010 },
    { part: "service", operator: "bids", instance: 0, start_ns: 1010, end_ns: 1050 },
    { part: "transmission", operator: "sink", instance: 1, start_ns: 1050, end_ns: 1075 },
    { part: "service", operator: "sink", instance: 1, start_ns: 1075, end_ns: 1100 },
  ],
};

describe("waterfalls", () => {
  it("has rows that follow on one another and fill the latency", () => {
    const rows = rowsOf(waterfall);
    expect(rows.map(({ left, width }) => [left, width])).toEqual([[0, 0.1], [0.1, 0.4], [0.5, 0.25], [0.75, 0.25]]);
    expect(rows[3]).toMatchObject({ where: "sink 1", part: "service", start_ns: 75, length_ns: 25 });
  });

  it("adds up by part, in the order of a record's way", () => {
    expect(partSums(waterfall)).toEqual([
      { part: "driver_queue", ns: 10 },
      { part: "transmission", ns: 25 },
      { part: "service", ns: 65 },
    ]);
  });

  it("asks for the frame of a moment, and says what was asked", () => {
    const selection = slowestIn({ t_s: 25.5 }, 0.25);
    expect(selection.between).toEqual({ after_ns: 25_250_000_000, to_ns: 25_500_000_000 });
    expect(inWords({ selection })).toBe("5 slowest, up to 25.50 s");
    expect(inWords({ selection: { sample: { rate: 0.000045 } } })).toBe("sample of 45 in a million");
    expect(inWords({ selection: { sample: { rate: 0.02 }, records: [{ sink: "s", trigger: 1, end_ns: 2 }] } })).toBe("sample of 2 %, 1 chosen record");
  });
});

describe("a run's document", () => {
  it("is another only where the run depends on it", () => {
    const run = { name: "a", workload: { seed: 1, horizon_s: 30 }, ui: { positions: { a: { x: 0 } } } };
    expect(editedSince(run, { ...run, name: "b", ui: {}, workload: { seed: 9, horizon_s: 30 } })).toEqual([]);
    expect(editedSince(run, { ...run, workload: { seed: 1, horizon_s: 60 } })).toEqual(["/workload/horizon_s"]);
  });
});
