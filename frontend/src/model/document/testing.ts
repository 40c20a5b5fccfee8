/** Small documents and frames for the tests of the model. */
import type { ExperimentDocument } from "../../api/document";
import type { Frame, Kind, OperatorSample } from "../../api/types";
import { coerceDocument } from "./coerce";

export const kind = (name: string, inputs: string[], outputs: string[]): Kind => ({
  kind: name,
  title: name,
  family: "operators",
  group: "",
  icon: "",
  doc: "",
  source: "",
  schema: { type: "object", properties: {} },
  inputs,
  outputs,
});

export const KINDS = new Map<string, Kind>([
  ["source", kind("source", [], ["out"])],
  ["filter", kind("filter", ["in"], ["out"])],
  ["join", kind("join", ["left", "right"], ["out"])],
  ["sink", kind("sink", ["in"], [])],
]);

export function smallDocument(): ExperimentDocument {
  return coerceDocument({
    format: 1,
    name: "small",
    query: {
      operators: [
        { id: "persons", kind: "source", parallelism: 2 },
        { id: "auctions", kind: "source", parallelism: 2 },
        { id: "filter", kind: "filter", parallelism: 2 },
        { id: "join", kind: "join", parallelism: 2, params: { left_key: "id", right_key: "seller" } },
        { id: "sink", kind: "sink", parallelism: 1 },
      ],
      edges: [
        { source: "persons", target: "filter", partitioning: { kind: "forward" } },
        { source: "filter", target: "join", target_port: "left", partitioning: { kind: "hash", key: "id" } },
        { source: "join", target: "sink", partitioning: { kind: "rebalance" } },
      ],
    },
    cluster: {
      hosts: [
        { name: "w", count: 3, group: "cloud" },
        { name: "gateway", group: "edge" },
      ],
    },
    placement: { kind: "spread" },
    workload: { horizon_s: 30, sources: { persons: { stream: { kind: "nexmark_person" }, rate: { kind: "constant", per_s: 100 } } } },
    ui: { positions: { persons: { x: 0, y: 0 } } },
  });
}

export const frame = (n: number, extra: Partial<Frame> = {}): Frame => ({
  n,
  t_s: (n + 1) / 4,
  latency_ms: { count: 1, p50: 1, p95: 2, p99: 3, max: 4 },
  offered_per_s: 10,
  in_per_s: 10,
  out_per_s: 5,
  backlog: 0,
  operators: {},
  hosts: {},
  ...extra,
});

export const operatorSample = (extra: Partial<OperatorSample> = {}): OperatorSample => ({
  in_per_s: 1,
  out_per_s: 1,
  busy: 0.1,
  blocked: 0,
  queue: 0,
  state_bytes: 0,
  watermark_lag_ms: null,
  late: 0,
  ...extra,
});
