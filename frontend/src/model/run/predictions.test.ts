import { expect, it } from "vitest";
import type { SparkPrediction } from "../../api/types";
import { calibrationStage, isNear, latenciesOf, measuresOf, offBy } from "./predictions";

const speed = { batches: 12, batch_ms: 450, low_ms: 400, high_ms: 500, records_per_s: 80_000 };
const prediction: SparkPrediction = { predicted: speed, measured: { ...speed, batch_ms: 500, records_per_s: 64_000 }, why_not: "", made: "2026-12-02", said: [] };

it("says how far a prediction is off", () => {
  expect([offBy(104, 100), offBy(88, 100), offBy(100.2, 100)]).toEqual(["4 % more than measured", "12 % less than measured", "as measured"]);
  expect([isNear(125, 100), isNear(126, 100), isNear(75, 100), isNear(74, 100)]).toEqual([true, false, true, false]);
});

it("has what was predicted before anything is measured", () => {
  expect(measuresOf(prediction).map(({ name, predicted, measured }) => [name, predicted, measured])).toEqual([
    ["Throughput", 80_000, 64_000],
    ["Micro-batch", 450, 500],
  ]);
  expect(measuresOf({ ...prediction, measured: null }).map(({ measured }) => measured)).toEqual([null, null]);
  expect(measuresOf({ ...prediction, predicted: null, why_not: "it has 2 sinks" })).toEqual([]);
  expect(measuresOf(prediction, true).map(({ name }) => name)).toEqual(["Micro-batch"]);
});

it("has latencies where they are predicted or measured", () => {
  const latency = { results: 9, p50_ms: 800, p95_ms: 1500, p99_ms: null, points: [] };
  expect(latenciesOf(null, latency)[0]).toEqual({ name: "Median", predicted_ms: null, measured_ms: 800 });
  expect(latenciesOf(latency, null).map(({ predicted_ms }) => predicted_ms)).toEqual([800, 1500, null]);
});

it("says what a calibration does", () => {
  expect(calibrationStage({ state: "queued", doing: "" })).toBe("Waiting for the analysis worker");
  expect(calibrationStage({ state: "running", doing: "" })).toBe("Starting");
  expect(calibrationStage({ state: "running", doing: "warming up, 2 of 5" })).toBe("Warming up, 2 of 5");
  expect(calibrationStage({ state: "running", doing: "counting, few, 4 partitions" })).toBe("Measuring: counting, few, 4 partitions");
});
