/** Questions about many runs: how they are put in words, and what of an answer is drawn. */
import type { AnalysisKind, AnalysisQuestion, Answer, Cell, RunsAsked } from "../../api/analysis";
import { plural } from "../../lib/format";

export const KIND_WORDS: Record<AnalysisKind, { title: string; about: string }> = {
  summaries: { title: "Summaries", about: "Percentiles, rates, recovery and time per operator over a span, for each run and for all runs pooled" },
  comparison: { title: "Comparison", about: "How much two sets of runs differ, and whether the difference may be chance" },
  surface: { title: "Response surface", about: "The mean of a metric over two parameters" },
  statistics: { title: "Statistics", about: "Metrics over all runs, by experiment or by a parameter" },
};

const foundBy = ({ ids, search, state, experiment, study, of_studies, tag }: RunsAsked) =>
  [
    ids && plural(ids.length, "chosen run"),
    search,
    tag && `tagged ${tag}`,
    experiment && "runs of one experiment",
    study && "runs of one study",
    !of_studies && !study && "without study runs",
    state !== "succeeded" && state,
  ]
    .filter(Boolean)
    .join(", ") || "all runs";

/** What was asked, as the line of a list. */
export function questionText(question: AnalysisQuestion): string {
  const runs = foundBy(question.runs);
  if (question.kind === "comparison") return `${runs} against ${question.against ? foundBy(question.against) : "nothing"}`;
  if (question.kind === "surface") return `${question.metric} over ${question.x} and ${question.y}, ${runs}`;
  if (question.kind === "statistics") return `${(question.metrics ?? []).join(", ")} by ${question.by}, ${runs}`;
  return runs;
}

export function spanText({ from_s, to_s }: Pick<AnalysisQuestion["span"], "from_s" | "to_s">): string {
  if (from_s === null && to_s === null) return "after warm-up";
  return `${from_s === null ? "warm-up's end" : `${from_s} s`} to ${to_s === null ? "the end" : `${to_s} s`}`;
}

/** A field of the form as a number; null where it is empty, NaN where it is none. */
export const seconds = (text: string): number | null => (text.trim() ? Number(text.trim()) : null);

/** Names separated by commas or spaces. */
export const names = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

export const isNumber = (value: Cell): value is number => typeof value === "number" && Number.isFinite(value);

/** A point with an interval, for charts. */
export interface Mark {
  x: string | number;
  y: number;
  low: number | null;
  high: number | null;
}

const number = (value: Cell) => (isNumber(value) ? value : null);

/** What is drawn of an answer, of one metric. */
export function marksOf(kind: AnalysisKind, { rows }: Answer, metric: string): Mark[] {
  if (kind === "summaries")
    return rows.flatMap((row) => {
      const y = row[metric];
      const bound = (side: string) => number(row[metric.replace(/_ms$/, `_${side}_ms`)]);
      const [low, high] = metric.endsWith("_ms") ? [bound("low"), bound("high")] : [null, null];
      return isNumber(y) ? [{ x: Number(row.number), y, low, high }] : [];
    });
  if (kind === "comparison")
    return rows.flatMap((row) => {
      const { base_mean: base, difference, low, high, title } = row;
      if (!isNumber(base) || !isNumber(difference) || base === 0) return [];
      const share = (value: Cell) => (isNumber(value) ? (100 * value) / Math.abs(base) : null);
      return [{ x: String(title), y: share(difference) ?? 0, low: share(low), high: share(high) }];
    });
  if (kind === "statistics")
    return rows.flatMap(({ group, metric: of, mean, low, high }) =>
      of === metric && isNumber(mean) ? [{ x: group as string | number, y: mean, low: number(low), high: number(high) }] : [],
    );
  return [];
}

/** Metrics of which one is drawn at a time. */
export function drawable(kind: AnalysisKind, { columns, rows }: Answer): { name: string; title: string; unit: string }[] {
  const about = ["number", "name", "seed"];
  if (kind === "summaries") return columns.filter(({ name }) => !about.includes(name) && rows.some((row) => isNumber(row[name])));
  if (kind === "statistics") {
    const named = rows.map(({ metric, title, unit }) => ({ name: String(metric), title: String(title), unit: String(unit) }));
    return [...new Map(named.map((one) => [one.name, one])).values()];
  }
  return [];
}

/** The cells of a surface: z by row of y. */
export function cellsOf({ rows }: Answer): { x: (string | number)[]; y: (string | number)[]; z: (number | null)[][] } {
  const along = (name: string) => [...new Set(rows.map((row) => row[name] as string | number))].sort(byValue);
  const [x, y] = [along("x"), along("y")];
  const found = new Map(rows.map((row) => [JSON.stringify([row.x, row.y]), number(row.mean)]));
  return { x, y, z: y.map((b) => x.map((a) => found.get(JSON.stringify([a, b])) ?? null)) };
}

const byValue = (a: string | number, b: string | number) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
