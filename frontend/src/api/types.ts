/** What the web API sends and takes (docs/web-api.md). */
import type { AnalysisKind, AnalysisQuestion, Answer } from "./analysis";
import type { Assertion, AssertionState, FigureDocument, FigureSource, FigureStatus, FigureValue, Scale } from "./figure";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A tagged choice: `kind` and that kind's own fields. */
export type Tagged = { kind: string; [field: string]: Json };
export type JsonSchema = { [key: string]: Json };

/** What somebody may do, from the least to the most: each includes those before it. */
export type Scope = "metrics" | "read" | "write" | "admin";
export type Role = "viewer" | "member" | "owner";

export interface Me {
  name: string;
  lab: string;
  role: Role;
  scopes: Scope[];
}

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
  | "scalings"
  | "rescalings"
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
  /** What 0 of event time is on the calendar, where sources read data sets. */
  event_zero: string | null;
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

/** A checkpoint in a space-time diagram. act: after how many acts of the history it is there; 0: from the beginning on. */
export interface CheckpointMark {
  id: string;
  instance: number;
  index: number;
  name: string;
  at: number;
  act: number;
  kind: "start" | "basic" | "coordinated" | "forced";
}

/** A message or a barrier. arrives_at null: under way to the end. processed_at: later than it arrived if it was laid aside. */
export interface MessageArrow {
  name: string;
  kind: "record" | "barrier";
  sender: number;
  receiver: number;
  sent_at: number;
  sent_act: number;
  arrives_at: number | null;
  arrives_act: number | null;
  processed_at: number | null;
  processed_act: number | null;
}

/** An instance lets nothing in from a channel whose barrier has come. */
export interface BarredWait {
  instance: number;
  sender: number;
  at: number;
  act: number;
  until: number | null;
  until_act: number | null;
}

/** unit: of the axis; empty if only the order is known. */
export interface SpaceTimeDiagram {
  instances: string[];
  first: number;
  last: number;
  unit: string;
  checkpoints: CheckpointMark[];
  messages: MessageArrow[];
  waits: BarredWait[];
}

/** A sentence, and marks in the diagram: ids of checkpoints, names of messages. act: how much of the history is shown; null: all. */
export interface LessonStep {
  title: string;
  text: string;
  act: number | null;
  verdict: "" | "good" | "bad";
  line: string[];
  marked: string[];
  discarded: string[];
  useless: string[];
  focus: string[];
  orphans: string[];
  in_flight: string[];
  stored: string[];
  lost: string[];
  aside: string[];
  told: string[];
  edges: [tail: string, head: string][];
  table: { columns: string[]; rows: string[][] } | null;
}

/** One case of a lesson, or one recovery of a run. */
export interface Explained {
  name: string;
  text: string;
  shows: string;
  diagram: SpaceTimeDiagram;
  steps: LessonStep[];
  left_out: number;
}

export interface LessonItem {
  id: string;
  title: string;
  figure: string;
  source: string;
  text: string;
}

export interface Lesson extends LessonItem {
  cases: Explained[];
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
  /** The study that made it. */
  study?: string | null;
  /** The run that it was forked from, and up to when it is the same. */
  parent?: string | null;
  fork_at_s?: number | null;
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
  /** When the lab removed its frames; they can be had again. */
  frames_removed_at?: string | null;
  error: string | null;
  tags: string[];
  /** How the notes on it begin. */
  said?: string;
  document?: Json;
}

/** What a view keeps of the address of the list of runs. */
export interface ViewQuery {
  state?: string;
  search?: string;
  experiment?: string;
  tag?: string;
  study?: string;
  of_studies?: boolean;
  sort?: string;
  columns?: string;
}

export interface View {
  id: string;
  name: string;
  query: ViewQuery;
  author: string | null;
  created_at: string;
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

/** A round of checkpoints, as the coordinator knows it at the end of a frame. */
export interface CheckpointRound {
  number: number;
  epoch: number;
  triggered_s: number;
  ended: "confirmed" | "failed" | "aborted" | null;
  ended_s: number | null;
  hosts_done: number;
  checkpoints: number;
  bytes: number;
  /** Whose round it is, where not all operators take part. */
  region?: string;
  operators?: string[];
  /** What its region changes to when it is confirmed. */
  turn?: RegionTurn;
}

export interface CapturedCheckpoint {
  operator: string;
  index: number;
  number: number;
  captured_s: number;
}

export interface DurableCheckpoint extends CapturedCheckpoint {
  durable_s: number;
  bytes: number;
  /** What the protocol calls it. */
  kind: string;
  /** Of a forced one: which rule asked for it ("clock", "cycle", "clock and cycle", "index"). */
  reason?: string;
}

/** All go back to a line of checkpoints. Times by host, in virtual seconds; numbers of the line by operator and index, 0 for the start. */
export interface Recovery {
  epoch: number;
  hosts: string[];
  detected_s: number;
  /** When the line was found; null while it is searched. Runs of engines before 9 do not say it. */
  found_s?: number | null;
  ordered_s: Record<string, number>;
  restored_s: Record<string, number>;
  go_s: number | null;
  line: Record<string, number[]>;
}

/** What a checkpointing protocol has done since the last frame, and what waits for barriers at the end of this one. */
export interface CheckpointNews {
  rounds: CheckpointRound[];
  skipped_s: number[];
  captured: CapturedCheckpoint[];
  durable: DurableCheckpoint[];
  recoveries: Recovery[];
  /** How lines were found; only that there is one matters here, the steps are told by the server. */
  searches?: { epoch: number }[];
  aligning: Aligning;
  /** Checkpoints of which it is known that no line can hold them. */
  useless?: { operator: string; index: number; number: number }[];
  /** Bytes in the logs of each edge's channels, at the end of the frame. */
  logs?: Record<string, number>;
  /** How each region takes checkpoints at the end of the frame, where that changes. */
  modes?: Record<string, RegionTurn["to"]>;
}

/** What a region's rounds turn into when this one is confirmed, and why: as measured, and the limit (docs/engine-api.md). */
export interface RegionTurn {
  to: "coordinated" | "uncoordinated";
  why: "skipped" | "wait" | "load";
  measured: number;
  limit: number;
}

export interface Aligning {
  operators: Record<string, { instances: number | null; passed_over: number | null }>;
  barred_channels: Record<string, number | null>;
}

/** starting: before the first iteration. stopping to restoring: a rescale is under way. cooldown: behind an order, nobody is asked. */
export type ScalingState = "running" | "starting" | "stopping" | "restarting" | "restoring" | "cooldown";

/** What was read of a vertex: means over its instances, ms of each second; rates of all together. Without a sample only its parallelism. */
export interface ScalingReading {
  operator: string;
  p: number;
  busy_ms?: number;
  idle_ms?: number;
  blocked_ms?: number;
  fill?: number;
  cpu?: number;
  in_per_s?: number;
  out_per_s?: number;
  pending?: number;
}

/** One iteration of a policy: what it read, computed of that, and wished for, what each rule made of the wish, and what was done. */
export interface ScalingDecision {
  t_s: number;
  read: ScalingReading[];
  bottlenecks: string[];
  /** Name, vertex, number; null: infinite, or it does not count. */
  values: [name: string, vertex: string, value: number | null][];
  /** By vertex. */
  advice: Record<string, number>;
  steps: { rule: string; parallelism: Record<string, number> }[];
  verdict: "order" | "keep" | "no_metrics" | "busy";
  why: string;
}

/** The carrying out of an order. Times in virtual seconds, null while they are not known. */
export interface RescaleAction {
  number: number;
  kind: "stop_and_restart" | "in_place";
  who: string;
  ordered_s: number;
  stopped_s: number | null;
  drained_s: number | null;
  stored_s: number | null;
  arranged_s: number | null;
  restored_s: number | null;
  ended_s: number | null;
  before: Record<string, number>;
  after: Record<string, number>;
  state_bytes: number | null;
  moved_bytes: number | null;
  lag_before: number | null;
  lag_after: number | null;
  outcome: "" | "done" | "aborted";
  why: string;
}

/** How the parallelism stands at the end of a frame, and what was decided and carried out in it. By operator; workers: active instances. */
export interface ScalingNews {
  workers: number;
  parallelism: Record<string, number>;
  wanted: Record<string, number>;
  state: ScalingState;
  /** When the state ends, as far as that is known. */
  until_s: number | null;
  /** When the policy is asked next. */
  next_s: number | null;
  /** Records that wait in the topic of each source. */
  lag: Record<string, number>;
  topic_wait_ms: number | null;
  oldest_wait_s: number | null;
  decisions: ScalingDecision[];
  /** Told in full whenever something of them changes. */
  actions: RescaleAction[];
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
  /** Of runs with a checkpointing protocol. */
  checkpoints?: CheckpointNews;
  /** Of runs whose parallelism may change. */
  scaling?: ScalingNews;
  operators: Record<string, OperatorSample>;
  hosts: Record<string, HostSample>;
}

/** A question about many runs that there are. */
export interface Analysis {
  id: string;
  kind: AnalysisKind;
  question: AnalysisQuestion;
  state: RunState;
  /** 0 to 1. */
  progress: number;
  /** How many runs it is about; null until it succeeded. */
  runs: number | null;
  /** Of how many the files were read. */
  read: number | null;
  error: string | null;
  cancel_requested: boolean;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  note: string | null;
}

export interface AnalysisDetail extends Analysis {
  answer: Answer | null;
  /** How many rows the answer has. */
  count: number;
}

/** message: what is missing, and what to do. */
export interface SparkState {
  state: "absent" | "asleep" | "ready" | "unavailable";
  master: string;
  message: string;
  cores: number;
}

/** A question that takes many runs. */
export interface Study {
  id: string;
  name: string;
  /** Id of the experiment to which its runs belong. */
  experiment: string;
  state: RunState;
  /** 0 to 1. */
  progress: number;
  /** Runs that have ended, failed ones included. */
  trials_done: number;
  trials_failed: number;
  /** Of searches an estimate; null until it has begun. */
  trials_left: number | null;
  /** Wall-clock seconds. */
  eta_s: number | null;
  cancel_requested: boolean;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  error: string | null;
}

/** What is varied in a study (docs/studies.md). */
export interface Axis {
  name: string;
  /** JSON pointers into the experiment. */
  fields: string[];
  multiply?: boolean;
  /** Further fields, multiplied by the value where the others are set to it. */
  also_multiplied?: string[];
  values: Tagged;
}

export interface StudyDocument {
  format?: number;
  name?: string;
  description?: string;
  experiment: Json;
  seeds?: number[];
  axes?: Axis[];
  design?: Tagged;
  executor?: "workers" | "spark";
  search?: { kind: string; load?: Axis; shares?: number[]; [field: string]: unknown };
  [field: string]: unknown;
}

export interface StudyDetail extends Study {
  document: StudyDocument;
  /** Names of what its runs measured so far. */
  metrics: string[];
  /** What its runs wait for. */
  note: string | null;
}

/** How much greater a mean is than the baseline's; bounds and p are null where a side has one run. pairs: seeds held against each other. */
export interface Difference {
  difference: number;
  low: number | null;
  high: number | null;
  p: number | null;
  pairs: number;
}

/** A compared run and those that differ from it by their seed alone. */
export interface ComparedSide {
  run: string;
  runs: { id: string; number: number; seed: number }[];
  /** Seeds of such runs that have not ended. */
  under_way: number[];
  /** Another side differs from it by its seed alone, so it stands for itself. */
  twin: boolean;
  over_seeds: { [metric: string]: StudyInterval };
  against: { [metric: string]: Difference };
}

export interface Comparison {
  sides: ComparedSide[];
  /** Runs that are not there; with their number if they were deleted. */
  gone: { id: string; number: number | null }[];
}

/** Values by the names of axes. */
export type AxisValues = { [axis: string]: Json };

export interface StudyInterval {
  mean: number;
  low: number | null;
  high: number | null;
  count: number;
}

export interface StudyRun {
  seed: number;
  values: AxisValues;
  run: string | null;
  number: number | null;
  state: RunState | null;
  /** It was there before. */
  reused: boolean;
  metrics: { [metric: string]: number };
  /** Why there is no result. */
  failure: string | null;
}

export interface StudyPoint {
  point: number;
  values: AxisValues;
  /** Of the load that was found there. */
  share: number | null;
  runs: StudyRun[];
  over_seeds: { [metric: string]: StudyInterval };
}

export interface TriedLoad {
  load: number;
  sustained: boolean;
  reasons: string[];
  figures: { [name: string]: number };
  run: string | null;
  number: number | null;
}

/** A search at one point with one seed. */
export interface StudySearch {
  point: number;
  values: AxisValues;
  seed: number;
  /** The largest load that was sustained, and the smallest above it that was not. */
  sustained: number | null;
  failed: number | null;
  over: boolean;
  failure: string | null;
  tried: TriedLoad[];
}

export interface StudyResults {
  points: StudyPoint[];
  found: StudySearch[];
  /** Points of the design. */
  count: number;
}

/** A point that an optimisation tried. objectives, bounds: in the order of the document; null: no value (yet). */
export interface TriedPoint {
  point: number;
  values: AxisValues;
  ended: boolean;
  objectives: (number | null)[];
  bounds: (number | null)[];
  /** It has all values, and keeps all bounds. */
  feasible: boolean;
  /** Why it does not count. */
  failure: string | null;
}

export interface StudyOptimisation {
  /** Those chosen so far, in order. */
  trials: TriedPoint[];
  /** Points that no other feasible one beats. */
  best: number[];
}

/** JSON Schema of a study's document, and the kinds that its parts can have. */
export interface StudySchema {
  document: JsonSchema;
  values: Kind[];
  designs: Kind[];
  searches: Kind[];
}

/** What a study is made of, before it starts: points and runs are null while it has errors. */
export interface StudyChecked {
  problems: Problem[];
  points: number | null;
  runs: number | null;
  first: AxisValues[];
  /** What runs of its experiment measure. */
  metrics: string[];
}

/** A figure that somebody wants carried out. */
export interface Reproduction {
  id: string;
  figure: string;
  scale: Scale;
  state: RunState;
  /** 0 to 1. */
  progress: number;
  error: string;
  cancel_requested: boolean;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  note: string | null;
}

/** Of a figure in a list; scale and what follows are of its result, null without one. */
export interface FigureItem {
  id: string;
  title: string;
  source: FigureSource;
  status: FigureStatus;
  scale: Scale | null;
  engine_version: string | null;
  seeds: number[] | null;
  runs: number | null;
  took_s: number | null;
  created_at: string | null;
  assertions: Partial<Record<AssertionState, number>>;
  /** Ids of assertions that do not hold. */
  lacking: string[];
  under_way: Reproduction[];
}

export interface FigureResult {
  scale: Scale;
  status: FigureStatus;
  engine_version: string;
  seeds: number[];
  runs: number;
  took_s: number;
  created_at: string;
  /** The figure has changed since. */
  stale: boolean;
}

export interface RunBehind {
  id: string;
  number: number;
  seed: number;
  state: RunState;
}

export interface FigureDetail {
  id: string;
  document: FigureDocument;
  status: FigureStatus;
  scale: Scale | null;
  values: Record<string, FigureValue>;
  assertions: Assertion[];
  /** By key. */
  lab_runs: Record<string, RunBehind>;
  /** The newest first. */
  results: FigureResult[];
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
  created_at: string;
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
  | { type: "reproductions"; reproductions: Reproduction[] }
  | { type: "studies"; studies: Study[] }
  | { type: "analyses"; analyses: Analysis[] }
  | { type: "lists" }
  | { type: "pong" };
