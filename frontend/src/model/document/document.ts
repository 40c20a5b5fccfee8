/** What an experiment document says, and what its parts are called. */
import type { Edge, ExperimentDocument, Operator } from "../../api/document";

export const DEFAULT_PORT = { source: "out", target: "in" } as const;
export const MAX_OPERATOR_ID = 63;

export function emptyDocument(name = "Untitled experiment"): ExperimentDocument {
  return {
    format: 1,
    name,
    description: "",
    query: { operators: [], edges: [] },
    cluster: {
      local_latency_ns: 1000,
      hosts: [
        {
          name: "w",
          count: 4,
          group: "cloud",
          processor: { kind: "shared_fifo" },
          cores: 1,
          speed: 1,
          memory_mb: 4096,
          egress_mbit_per_s: 1000,
          egress_latency_ms: 0.5,
        },
      ],
    },
    placement: { kind: "spread" },
    workload: { seed: 1, horizon_s: 30, warmup_s: 5, drain: false, drain_limit_s: 60, sources: {} },
    policies: { flow_control: { kind: "unbounded" } },
    prices: "reference",
    measurement: { frame_ms: 250, latency: { from: "append", anchor: "trigger" } },
    backend: { kind: "modelled" },
    ui: { positions: {} },
  };
}

/** A name that no operator has yet: "filter", "filter-2", ... */
export function freeName(base: string, taken: Iterable<string>): string {
  const used = new Set(taken);
  const clean =
    base
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, "-")
      .replace(/^[^a-z]+/, "")
      .slice(0, MAX_OPERATOR_ID - 4) || "operator";
  if (!used.has(clean)) return clean;
  for (let number = 2; ; number += 1) if (!used.has(`${clean}-${number}`)) return `${clean}-${number}`;
}

/** Of a draft, too: what is drawn over time needs a length. */
export const horizonOf = (document: ExperimentDocument) => Math.max(Number(document.workload.horizon_s) || 30, 1e-3);
export const warmupOf = (document: ExperimentDocument) =>
  Math.max(0, Math.min(Number(document.workload.warmup_s) || 0, horizonOf(document)));

/** How often an operator stands side by side. */
export const instancesOf = (operator: Operator | undefined) => operator?.parallelism ?? 1;

export const operatorOf = (document: ExperimentDocument, id: string) => document.query.operators.find((operator) => operator.id === id);
export const edgeKey = (edge: Edge) =>
  `${edge.source}.${edge.source_port ?? DEFAULT_PORT.source}>${edge.target}.${edge.target_port ?? DEFAULT_PORT.target}`;
