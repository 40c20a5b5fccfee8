import { describe, expect, it } from "vitest";
import type { StudyResults } from "../../api/types";
import { predictedCosts } from "./predicted";

const run = (state: string, failure: string | null = null) => ({ state, failure });
const point = (number: number, name: string, means: { [metric: string]: number }, runs: object[]) => ({
  point: number,
  values: { candidate: name },
  runs,
  over_seeds: Object.fromEntries(Object.entries(means).map(([metric, mean]) => [metric, { mean, low: null, high: null, count: 1 }])),
});

const RESULTS = {
  points: [
    point(0, "1", { "latency_ms.mean": 20, throughput_out_per_s: 100 }, [run("succeeded")]),
    point(1, "present", { "latency_ms.mean": 30 }, [run("succeeded")]),
    point(2, "3", {}, [run("running")]),
    point(3, "4", {}, [run("succeeded")]),
  ],
  found: [],
  count: 4,
} as unknown as StudyResults;

const PREDICTIONS: { models: string; points: { [cost: string]: number[] }[] } = {
  models: "dev",
  points: [
    { processing_latency: [9, 11], throughput: [100] },
    { processing_latency: [90] },
    { processing_latency: [5] },
    { processing_latency: [5] },
  ],
};

describe("predicted and measured", () => {
  const costs = predictedCosts(PREDICTIONS, RESULTS, (values) => String(values.candidate));

  it("stand side by side, with how far they are off", () => {
    expect(costs.map(({ goal }) => goal)).toEqual(["processing_latency", "throughput"]);
    expect(costs[0]?.rows.map(({ label, predicted, measured, off }) => [label, predicted, measured, off])).toEqual([
      ["1", "10 ms", "20 ms", 2],
      ["present", "90 ms", "30 ms", 3],
      ["3", "5 ms", "", null],
      ["4", "5 ms", "nothing arrived", null],
    ]);
    expect(costs[0]?.rows[0]?.range).toBe("9–11 ms");
  });

  it("have the median of what can be compared", () => {
    expect(costs.map(({ median }) => median)).toEqual([2.5, 1]);
  });

  it("are nothing where nothing was predicted", () => {
    expect(predictedCosts({ models: "dev", points: [] }, RESULTS, () => "")).toEqual([]);
  });
});
