/** Figures of papers as the API sends them. */

export const SCALES = ["smoke", "dev", "paper"] as const;
export type Scale = (typeof SCALES)[number];

export const STATUSES = ["reproduced", "calibrated", "partly", "not reproduced", "not evaluated", "not run"] as const;
export type FigureStatus = (typeof STATUSES)[number];

export type AssertionState = "holds" | "fails" | "not evaluated" | "not run";

export interface FigureSource {
  paper: string;
  figure: string;
  section: string;
  page: string;
}

export interface Side {
  text: string;
  least: number;
  /** Null for a number that is only known to be at least `least`. */
  most: number | null;
}

export interface Assertion {
  id: string;
  text: string;
  check: string;
  tolerance: number | null;
  state: AssertionState;
  sides: Side[];
  reason: string;
  /** Why it does not hold, by its author, and when that was written. */
  unmet: { why: string; on: string } | null;
  /** True by construction: it does not count. */
  consistency: boolean;
}

/** Keys of the runs behind it are hashes of document and seed. */
export interface NumberValue {
  value: number;
  low?: number;
  high?: number;
  runs?: string[];
  /** The number was still growing when its run ended: it is this, or more. */
  at_least?: boolean;
}
export interface SeriesValue {
  x: (number | string)[];
  y: number[];
  low?: (number | null)[];
  high?: (number | null)[];
  /** A list for each point, or one for all of them. */
  runs?: string[][];
  at_least?: boolean[];
}
/** Nothing was measured, and why. */
export interface NoValue {
  reason: string;
}
export type FigureValue = NumberValue | SeriesValue | NoValue;

export interface PanelAxis {
  title?: string;
  unit?: string;
  log?: boolean;
}

/** steps: a value holds from its x on; steps_before: up to its x. */
export type DrawnAs = "line" | "points" | "steps" | "steps_before" | "bars";

export interface FigurePanel {
  title?: string;
  x?: PanelAxis;
  y?: PanelAxis;
  series: { value: string; name?: string; unit?: string; reported?: boolean; mark?: DrawnAs }[];
  marks?: { at: string; name?: string }[];
}

/** better: which of its numbers is the best, where that is plain. about: what it is. */
export interface FigureColumn {
  better?: "lower" | "higher" | null;
  about?: string;
}

/** The figure as it is written (docs/figures.md), as far as a page needs it. */
export interface FigureDocument {
  title: string;
  source: Partial<FigureSource> & { paper: string };
  claim: string;
  differs: string;
  scales?: Partial<Record<Scale, { about?: string }>>;
  studies?: Record<string, unknown>;
  evaluations?: Record<string, unknown>;
  values: Record<string, { kind: string; study?: string }>;
  reported?: Record<string, number | { x: (number | string)[]; y: number[] }>;
  /** table: each panel is a table, its series are the columns; what is said of those with a name holds in all tables. */
  /** deployment: the study whose query and hosts are part of it. */
  drawing: { kind?: "panels" | "table"; panels: FigurePanel[]; columns?: Record<string, FigureColumn>; deployment?: string };
}
