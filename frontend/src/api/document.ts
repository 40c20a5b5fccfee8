/** The experiment document as the canvas sees it: of a draft, too (docs/experiment-document.md). */
import type { Json, Tagged } from "./types";

export interface Operator {
  id: string;
  kind: string;
  /** Not given: one instance. */
  parallelism?: number;
  params?: { [field: string]: Json };
  cost?: Json;
}

export interface Edge {
  source: string;
  source_port?: string;
  target: string;
  target_port?: string;
  partitioning: Tagged;
  /** Closes a cycle: carries records back, and no watermarks. */
  feedback?: boolean;
  /** Of a feedback edge into a port that no other edge leads to: what its records consist of. */
  fields?: { name: string; type: string }[];
  /** Records that each of its channels may hold, in place of what the flow control says. */
  capacity?: number;
}

/** Operators that are measured together, and run in copies. */
export interface NamedQuery {
  name: string;
  operators: string[];
  /** Not given: one query of exactly this name. */
  copies?: number;
  start_s?: number;
  start_within_s?: number;
}

export interface Host {
  name: string;
  count?: number;
  group?: string;
  processor?: Tagged;
  memory?: Tagged;
  cores?: number;
  speed?: number;
  memory_mb?: number;
  egress_mbit_per_s?: number;
  egress_latency_ms?: number;
}

/** From every host of one region to every host of another one, or within one. */
export interface RegionLink {
  source?: string;
  target?: string;
  /** Not given: yes. */
  both_ways?: boolean;
  latency_ms?: number;
  mbit_per_s?: number;
}

export interface SourceWorkload {
  stream: Tagged;
  rate: Tagged;
  arrivals?: Tagged;
  disorder?: Tagged;
  watermarks?: Tagged;
  retention?: Tagged;
  generation?: Tagged;
}

export interface Position {
  x: number;
  y: number;
}

export interface ExperimentDocument {
  format: number;
  name: string;
  description?: string;
  query: { operators: Operator[]; edges: Edge[]; queries?: NamedQuery[] };
  cluster: { hosts: Host[]; region_links?: RegionLink[]; links?: Json[]; local_latency_ns?: number };
  placement: Tagged & { hosts?: { [operator: string]: string[] } };
  workload: {
    seed?: number;
    horizon_s?: number;
    warmup_s?: number;
    sources: { [operator: string]: SourceWorkload };
    [field: string]: unknown;
  };
  policies?: { [family: string]: Json };
  faults?: Tagged[];
  prices?: string;
  measurement?: { [field: string]: Json };
  assertions?: Json[];
  backend?: Json;
  ui?: { positions?: { [operator: string]: Position }; [field: string]: unknown };
}
