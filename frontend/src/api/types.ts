/** What the web API sends and takes (docs/web-api.md). */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonSchema = { [key: string]: Json };

export interface Problem {
  /** JSON pointer into the document as it was sent. */
  pointer: string;
  code: string;
  message: string;
  value?: Json;
  hint?: string;
  severity: "error" | "warning";
}

export interface Kind {
  kind: string;
  title: string;
  family: string;
  group: string;
  icon: string;
  doc: string;
  source: string;
  schema: JsonSchema;
  inputs: string[];
  outputs: string[];
  /** Of functions. */
  example?: string;
  signatures?: { text: string }[];
}

export type Family =
  | "operators"
  | "streams"
  | "rates"
  | "arrivals"
  | "disorders"
  | "watermarks"
  | "retentions"
  | "generations"
  | "noises"
  | "drifts"
  | "warmups"
  | "partitionings"
  | "processors"
  | "placements"
  | "flow_controls"
  | "ingresses"
  | "memories"
  | "slow_downs"
  | "faults"
  | "occurrences"
  | "functions"
  | "prices";

export type Registry = Partial<Record<Family, Kind[]>>;

export interface RecordField {
  name: string;
  type: string;
}

export interface RecordSchema {
  fields: RecordField[];
  bytes: number;
}

export interface Validation {
  problems: Problem[];
  hash: string | null;
  /** Keys are "<operator id>.<output port>". */
  schemas: Record<string, RecordSchema>;
  /** Host names by operator id, one per instance in index order. */
  placement: Record<string, string[]>;
}

export interface RatePreview {
  /** By source, [time in s, records per s]; sources that are broken are left out. */
  sources: Record<string, [number, number][]>;
}

export interface ExperimentRow {
  id: string;
  name: string;
  description: string;
  updated_at: string;
  runs: number;
  /** As it came with Millrace: nobody has changed or run it. */
  example: boolean;
}

/** A document to start from. */
export interface Template {
  id: string;
  document: Json;
}

export interface ExperimentRecord {
  id: string;
  version: number;
  document: Json;
  problems: Problem[];
  updated_at: string;
}

export type RunState = "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled";

export interface Run {
  id: string;
  number: number;
  experiment: { id: string; name: string };
  state: RunState;
  seed: number;
  hash: string;
  engine_version: string;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** 0 to 1. */
  progress: number | null;
  t_s: number | null;
  horizon_s: number | null;
  /** Wall-clock seconds. */
  eta_s: number | null;
  cancel_requested?: boolean;
  /** Virtual seconds a second, at most; null: as fast as possible. */
  pace: number | null;
  /** The number of frames at which it stands still; 0: at once, null: it goes on to its end. */
  hold_at_frame?: number | null;
  paused_at?: string | null;
  frames?: number;
  note?: string | null;
  summary: { [key: string]: Json } | null;
  digest: string | null;
  error: string | null;
  tags: string[];
  document?: Json;
}

export interface Tag {
  name: string;
  runs: number;
}

export interface Latency {
  count: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
}

export interface OperatorSample {
  in_per_s: number | null;
  out_per_s: number | null;
  busy: number | null;
  blocked: number | null;
  queue: number | null;
  state_bytes: number | null;
  watermark_lag_ms: number | null;
  late: number | null;
  /** With hosts: sent to it and never served, or taken in and not sent. */
  lost?: number;
  /** By sources on full hosts. */
  shed?: number;
  attribution?: Attribution;
}

/** Sums over the records whose service began in the frame, and over the records sent (docs/event-core.md, section 11). */
export interface Attribution {
  records: number;
  sent: number;
  driver_queue_ns: number;
  channel_wait_ns: number;
  alignment_ns: number;
  service_ns: number;
  stolen_ns: number;
  blocked_ns: number;
  network_ns: number;
}

export interface HostSample {
  busy: number | null;
  queue: number | null;
  egress_mbit_per_s: number | null;
  queue_bytes?: number;
  unsent_bytes?: number;
  state_bytes?: number;
  /** Of hosts with a memory model. */
  memory?: { used_bytes: number; peak_bytes: number; slow_down: number; full: boolean } | null;
}

/** A host that died of what it held. */
export interface Death {
  host: string;
  at_s: number;
  used_bytes: number;
  limit_bytes: number;
  /** Null: never. */
  restart_at_s: number | null;
}

/** Which delivered records are looked at closely. */
export interface Selection {
  slowest?: number;
  sample?: { rate: number; seed?: number } | null;
  records?: { sink: string; trigger: number; end_ns: number }[];
  /** Only what was delivered after the one time and up to the other. */
  between?: { after_ns: number; to_ns: number } | null;
}

/** A question about a run's records; a worker makes the run again to answer it. */
export interface Question {
  id: string;
  run: string;
  selection: Selection;
  state: RunState;
  progress: number;
  records: number | null;
  error: string | null;
  cancel_requested: boolean;
  created_at: string;
  note?: string | null;
}

/** Where the time of one delivered record went, from the measured clock to the delivery; each part begins where the one before ends. */
export interface Waterfall {
  sink: string;
  instance: number;
  trigger: number;
  end_ns: number;
  latency_ns: number;
  parts: { part: string; operator: string; instance: number; start_ns: number; end_ns: number }[];
}

/** One frame of virtual time (docs/engine-api.md); rates are per virtual second, null where there is no sample. */
export interface Frame {
  n: number;
  t_s: number;
  latency_ms: Latency;
  /** By name, those that are measured beside it. */
  latencies_ms?: Record<string, Latency>;
  offered_per_s: number | null;
  in_per_s: number | null;
  out_per_s: number | null;
  backlog: number | null;
  /** Since the last frame. */
  deaths?: Death[];
  operators: Record<string, OperatorSample>;
  hosts: Record<string, HostSample>;
}

export interface DatasetColumn {
  name: string;
  type: string;
  sample: Json[];
}

export interface Dataset {
  id: string;
  name: string;
  rows: number;
  bytes: number;
  columns: DatasetColumn[];
  timestamps: string[];
}

/** `at_s`: unix time at which the worker sent live frames. */
export type SocketMessage =
  | { type: "frames"; frames: Frame[]; at_s?: number }
  | { type: "state"; run: Run }
  | { type: "end" }
  | { type: "pong" };

/**
 * What changes in the lab. `ready`: from now on it is told, what came before is not. `lists`: other runs may be in a list, or have
 * other tags.
 */
export type NewsMessage =
  | { type: "ready" }
  | { type: "runs"; runs: Run[] }
  | { type: "questions"; questions: Question[] }
  | { type: "lists" }
  | { type: "pong" };
