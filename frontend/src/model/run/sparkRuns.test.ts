import { describe, expect, it } from "vitest";
import type { MicroBatch, SparkComparison, SparkRun } from "../../api/types";
import { partsOf, rateOf, sinksOf, stageOf, verdictOf } from "./sparkRuns";

const batch = (changes: Partial<MicroBatch> = {}): MicroBatch => ({
  sink: "sink",
  batch: 0,
  began_s: 1,
  records_in: 500,
  took_ms: 200,
  operations_ms: { addBatch: 120, queryPlanning: 30 },
  watermark_s: null,
  behind_ms: null,
  state_rows: 0,
  state_bytes: 0,
  dropped: 0,
  lost: false,
  ...changes,
});

describe("micro-batches", () => {
  it("are divided by operation, and add up to what they took", () => {
    const parts = partsOf([batch(), batch({ took_ms: 100, operations_ms: { addBatch: 90, walCommit: 10 } })]);
    expect(parts.map(({ name }) => name)).toEqual(["queryPlanning", "walCommit", "addBatch", "other"]);
    expect([0, 1].map((at) => parts.reduce((sum, { ms }) => sum + (ms[at] ?? 0), 0))).toEqual([200, 100]);
  });
  it("have a rate, unless they took no time", () => {
    expect([rateOf(batch()), rateOf(batch({ took_ms: 0 }))]).toEqual([2500, null]);
    expect(sinksOf([batch({ sink: "b" }), batch({ sink: "a" }), batch({ sink: "b" })])).toEqual(["a", "b"]);
  });
});

describe("the comparison", () => {
  const sink = { equal: true, of_model: 7, of_spark: 7, differing: 0, only_model: [], only_spark: [] };
  const comparison: SparkComparison = { equal: true, sinks: { out: sink }, records_in: 9, batches: 2, records_per_s: 1, took_s: 1, late: 0, dropped: 0, machine: "2 cores" };
  it("says in a sentence what came of it", () => {
    expect(verdictOf(comparison)).toBe("Equal: the model and Spark deliver the same 7 records.");
    const differs = { ...comparison, equal: false, late: 4, sinks: { out: { ...sink, equal: false, differing: 3 } } };
    expect(verdictOf(differs)).toBe(
      "Different: 3 of out. Records were late: the model dropped 4, Spark 0. A longer lag of the watermarks keeps them.",
    );
  });
});

it("says what it does", () => {
  const row = { state: "running", doing: "streaming", batches: 3 } as SparkRun;
  expect(stageOf(row)).toBe("Streaming, 3 micro-batches done");
  expect(stageOf({ ...row, doing: "running the model" })).toBe("Running the model");
  expect(stageOf({ ...row, state: "queued" })).toBe("Waiting for the analysis worker");
});
