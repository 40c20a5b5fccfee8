/** What a study found as rows: for its table, and as CSV. */
import type { AssertionCount, AxisValues, Json, StudyInterval, StudyPoint, StudyResults } from "../../api/types";
import { foundByPoint } from "./chart";
import { FOUND } from "./metrics";
import { loadOf, valueText, type StudyDocument } from "./study";

export interface Row {
  key: string;
  point: number;
  share: number | null;
  values: AxisValues;
  intervals: { [metric: string]: StudyInterval };
  /** How often each holds in the runs of the point. */
  assertions: AssertionCount[];
  runs: number;
  failed: number;
}

/** One row for each point, or for each share at it; points where only a search went on have one without numbers of runs. */
export function rowsOf(results: StudyResults): Row[] {
  const found = new Map(foundByPoint(results).map((one) => [one.point, one]));
  const searched = (point: number): Row["intervals"] => {
    const one = found.get(point);
    return one && one.median !== null
      ? { [FOUND]: { mean: one.median, low: one.least, high: one.most, count: one.searches.length } }
      : {};
  };
  const rows = results.points.map((one) => ({
    key: keyOf(one),
    point: one.point,
    share: one.share,
    values: one.values,
    intervals: { ...one.over_seeds, ...searched(one.point) },
    assertions: one.assertions,
    runs: one.runs.length,
    failed: one.runs.filter(({ failure }) => failure).length,
  }));
  const has = new Set(rows.map(({ point }) => point));
  const only = [...found.values()]
    .filter(({ point }) => !has.has(point))
    .map(({ point, values, searches }) => ({
      key: `${point}`,
      point,
      share: null,
      values,
      intervals: searched(point),
      assertions: [],
      runs: 0,
      failed: searches.filter(({ failure }) => failure).length,
    }));
  return [...rows, ...only].sort((a, b) => a.point - b.point);
}

export const keyOf = ({ point, share }: Pick<StudyPoint, "point" | "share">) => (share === null ? `${point}` : `${point}@${share}`);

/** By an axis or a metric, a minus before it for downwards; what lacks it stands last. */
export function sortedRows(rows: Row[], sort: string): Row[] {
  if (!sort) return rows;
  const [name, sign] = sort.startsWith("-") ? [sort.slice(1), -1] : [sort, 1];
  const of = (row: Row): Json => (name === "share" ? row.share : (row.intervals[name]?.mean ?? row.values[name] ?? null));
  return [...rows].sort((a, b) => {
    const [left, right] = [of(a), of(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === "number" && typeof right === "number") return sign * (left - right);
    return sign * valueText(left).localeCompare(valueText(right));
  });
}

const quoted = (value: Json | undefined): string => {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  // A text that a spreadsheet would take for a formula stays a text.
  const safe = typeof value === "string" && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};
const csv = (rows: (Json | undefined)[][]) => rows.map((row) => row.map(quoted).join(",")).join("\n") + "\n";

/** One line for each run. */
export function runsCsv(study: StudyDocument, results: StudyResults, metrics: readonly string[]): string {
  const axes = [...(study.axes ?? []).map(({ name }) => name), ...(loadOf(study) ? [loadOf(study)?.name ?? ""] : [])];
  const measured = metrics.filter((name) => name !== FOUND);
  const searches = loadOf(study) !== null;
  const head = ["point", ...(searches ? ["share"] : []), ...axes, "seed", "run", "state", ...measured, "failure"];
  const rows = results.points.flatMap(({ point, share, runs }) =>
    runs.map(({ values, seed, number, state, metrics: numbers, failure }) => [
      point,
      ...(searches ? [share] : []),
      ...axes.map((name) => values[name]),
      seed,
      number,
      state,
      ...measured.map((name) => numbers[name]),
      failure,
    ]),
  );
  return csv([head, ...rows]);
}

/** One line for each load that was tried. */
export function searchesCsv(study: StudyDocument, results: StudyResults): string {
  const axes = (study.axes ?? []).map(({ name }) => name);
  const figures = [...new Set(results.found.flatMap(({ tried }) => tried.flatMap((one) => Object.keys(one.figures))))];
  const head = ["point", ...axes, "seed", loadOf(study)?.name ?? "load", "sustained", "reasons", "run", ...figures];
  const rows = results.found.flatMap(({ point, values, seed, tried }) =>
    tried.map((one) => [
      point,
      ...axes.map((name) => values[name]),
      seed,
      one.load,
      one.sustained,
      one.reasons.join("; "),
      one.number,
      ...figures.map((name) => one.figures[name]),
    ]),
  );
  return csv([head, ...rows]);
}
