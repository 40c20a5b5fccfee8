/** Questions about many runs, and their answers, as the API sends them. */

export const KINDS = ["summaries", "comparison", "surface", "statistics"] as const;
export type AnalysisKind = (typeof KINDS)[number];

/** Which runs a question is about: all of these hold of each. */
export interface RunsAsked {
  /** Runs that were chosen one by one. */
  ids: string[] | null;
  search: string;
  state: "succeeded" | "failed" | "cancelled";
  experiment: string | null;
  study: string | null;
  /** Runs that studies made, too. */
  of_studies: boolean;
  tag: string;
}

export interface AnalysisQuestion {
  kind: AnalysisKind;
  runs: RunsAsked;
  against?: RunsAsked;
  span: { from_s: number | null; to_s: number | null; [setting: string]: unknown };
  metrics?: string[];
  metric?: string;
  x?: string;
  y?: string;
  by?: string;
}

export interface Column {
  name: string;
  title: string;
  unit: string;
}

export type Cell = string | number | null | undefined | object;
export type AnswerRow = Record<string, Cell>;
export type Bounded = { ms: number; low_ms: number; high_ms: number };
export interface Pooled {
  group: string | number;
  runs: number;
  samples: number;
  p50: Bounded | null;
  p95: Bounded | null;
  p99: Bounded | null;
  max: Bounded | null;
}

export interface Answer {
  columns: Column[];
  rows: AnswerRow[];
  pooled: Pooled[];
  runs: number;
  left_out: { run: string; number: number; why: string }[];
  left_out_count: number;
  took_s: number;
  /** Of surfaces: the parameters, and what is drawn over them. */
  x?: string;
  y?: string;
  title?: string;
  unit?: string;
}
