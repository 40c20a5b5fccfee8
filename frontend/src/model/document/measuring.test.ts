import { describe, expect, it } from "vitest";
import type { Advice } from "../../api/types";
import { rowsOf } from "./advice";
import { studyOf } from "./measuring";
import { smallDocument } from "./testing";

const hosts = (host: string) => ({ persons: host, auctions: host, filter: host, join: host, sink: host });
const candidate = (host: string, latency_ms: number, extra: object = {}) => ({
  hosts: hosts(host),
  origin: "drawn",
  costs: { processing_latency: [latency_ms, latency_ms + 2] },
  mean: { processing_latency: latency_ms + 1 },
  spread: 2,
  votes: { success: 2, flows: 2 },
  members: 2,
  filtered: null,
  rule: null,
  ...extra,
});

const ADVICE = {
  models: "dev",
  goal: "processing_latency",
  unit: "ms",
  order: [1, 0, 2],
  relaxed: [],
  cautions: [],
  outside: [],
  reasons: [],
  candidates: [candidate("w1", 30, { origin: "present" }), candidate("gateway", 10), candidate("w2", 5, { filtered: "fails" })],
} as unknown as Advice;

interface Made {
  name: string;
  experiment: { measurement: object; placement: object };
  axes: { name: string; fields: string[]; values: { of: unknown[] } }[];
  design: object;
  seeds: number[];
}

describe("a study of suggested placements", () => {
  const asked = { ...smallDocument(), name: "Edge", measurement: { frame_ms: 500 } };
  const { document, predictions } = studyOf(asked, ADVICE, rowsOf(ADVICE));
  const made = document as unknown as Made;

  it("has a point for each, named as in the table", () => {
    const [placement, candidate] = made.axes;
    expect(candidate?.values.of).toEqual(["1", "present", "3 (filtered)"]);
    expect(placement?.values.of[0]).toEqual({ kind: "explicit", hosts: Object.fromEntries(Object.keys(hosts("x")).map((id) => [id, ["gateway"]])) });
    expect(made.design).toEqual({ kind: "together" });
    expect(made.name).toBe("Edge: suggested placements");
  });

  it("keeps what was predicted, point by point", () => {
    expect(predictions).toEqual({
      models: "dev",
      points: [{ processing_latency: [10, 12] }, { processing_latency: [30, 32] }, { processing_latency: [5, 7] }],
    });
  });

  it("measures latencies as the models know them, and nothing else differs", () => {
    expect(made.experiment.measurement).toEqual({
      frame_ms: 500,
      latency: { from: "ingest", anchor: "oldest" },
      also: [{ name: "end_to_end", from: "event", anchor: "oldest", to: "sink" }],
    });
    expect({ ...made.experiment, measurement: asked.measurement }).toEqual(asked);
  });
});
