import { expect, test } from "vitest";
import type { TriedPoint } from "../../api/types";
import { bestSoFar, boundText, historyOf, objectiveText, soughtMetrics, whyNoBest } from "./optimum";
import type { StudyDocument } from "./study";

const study: StudyDocument = {
  experiment: {},
  axes: [{ name: "servers", fields: ["/query/operators/1/parallelism"], values: { kind: "between", from: 1, to: 9 } }],
  design: {
    kind: "optimise",
    objectives: [{ metric: "servers" }, { metric: "latency_ms.p99" }],
    bounds: [{ metric: "latency_ms.p99", at_most: 40 }],
  },
};

const trial = (point: number, value: number | null, more: Partial<TriedPoint> = {}): TriedPoint => ({
  point,
  values: { servers: value },
  ended: true,
  objectives: [value, 10],
  bounds: [10],
  feasible: value !== null,
  failure: value === null ? "a run did not measure it" : null,
  ...more,
});

test("trials that count make a staircase; the others stand beside it", () => {
  const trials = [trial(0, 5), trial(1, 2, { feasible: false }), trial(2, null), trial(3, 4), trial(4, 6), trial(5, 3, { ended: false })];
  const spots = historyOf(trials, 0);
  expect(spots.map(({ trial: number, outcome }) => [number, outcome])).toEqual([
    [1, "counts"],
    [2, "breaks a bound"],
    [4, "counts"],
    [5, "counts"],
  ]);
  expect(bestSoFar(spots, { metric: "servers" })).toEqual([
    { trial: 1, y: 5 },
    { trial: 4, y: 4 },
    { trial: 5, y: 4 },
  ]);
  expect(bestSoFar(spots, { metric: "servers", direction: "maximise" }).at(-1)).toEqual({ trial: 5, y: 6 });
  expect(bestSoFar([], { metric: "servers" })).toEqual([]);
});

test("what is sought is said in words, and why there is no best", () => {
  expect(objectiveText(study, { metric: "servers" })).toBe("minimise servers");
  expect(boundText(study, { metric: "latency_ms.p99", at_most: 40 })).toMatch(/^latency.* at most 40$/);
  expect(soughtMetrics(study, ["latency_ms.p99", "late"])).toEqual(["latency_ms.p99"]);
  expect(whyNoBest(study, { trials: [], best: [] }, true)).toBe("No trial has ended yet");
  expect(whyNoBest(study, { trials: [trial(0, 1, { feasible: false })], best: [] }, true)).toBe("None of 1 keeps all bounds so far");
  expect(whyNoBest(study, { trials: [trial(0, 1)], best: [0] }, true)).toBe("");
});
