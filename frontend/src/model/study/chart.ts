/** Lines, cells and rows of what a study found: pure functions of its document and its results. */
import type { AxisValues, Json, StudyPoint, StudyResults, StudySearch } from "../../api/types";
import { FOUND } from "./metrics";
import { axisTitle, designOf, isDrawn, isLogarithmic, isNumeric, loadOf, valueText, type StudyDocument } from "./study";

/** Along what points differ: an axis, the load that was found, the share of it, the seed. */
export interface Dimension {
  name: string;
  title: string;
  numeric: boolean;
  logarithmic: boolean;
  of: "axis" | "load" | "share" | "seed";
}

export const SHARE = "share";
export const SEED = "seed";

export function dimensionsOf(study: StudyDocument): Dimension[] {
  const axes = (study.axes ?? []).map((axis): Dimension => ({
    name: axis.name,
    title: axisTitle(axis),
    numeric: isNumeric(axis),
    logarithmic: isLogarithmic(axis),
    of: "axis",
  }));
  const load = loadOf(study);
  if (!load) return axes.length ? axes : [{ name: SEED, title: "seed", numeric: true, logarithmic: false, of: "seed" }];
  const dimensions: Dimension[] = [...axes, { name: load.name, title: axisTitle(load), numeric: true, logarithmic: isLogarithmic(load), of: "load" }];
  if ((study.search?.shares ?? []).length > 1)
    dimensions.push({ name: SHARE, title: "share of the load found", numeric: true, logarithmic: false, of: "share" });
  return dimensions;
}

/** The dimension that a chart has across where nobody chose one: the axis that changes fastest. */
export function firstAcross(dimensions: Dimension[]): Dimension {
  const axes = dimensions.filter(({ of }) => of === "axis");
  const first = axes.findLast(({ numeric }) => numeric) ?? axes.at(-1) ?? dimensions[0];
  return first as Dimension;
}

export interface Spot {
  /** Number of the point in the design, and the share where there are some. */
  point: number;
  share: number | null;
  x: Json;
  y: number;
  low: number | null;
  high: number | null;
  /** Over so many seeds. */
  count: number;
}

export interface ChartedLine {
  label: string;
  spots: Spot[];
}

/** What is held fixed: by dimension, the value as text. */
export type Held = { [dimension: string]: string };

export interface Shown {
  metric: string;
  across: string;
  held: Held;
}

/** A point with what was found there, whatever the metric. */
interface Measured {
  point: number;
  share: number | null;
  values: AxisValues;
  y: number;
  low: number | null;
  high: number | null;
  count: number;
}

const median = (sorted: readonly number[]) => {
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};
const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

export interface FoundAt {
  point: number;
  values: AxisValues;
  searches: StudySearch[];
  /** Over the seeds that have a load; null: none has. */
  least: number | null;
  median: number | null;
  most: number | null;
}

/** The searches point by point: the least, the median and the largest load over the seeds. */
export function foundByPoint(results: StudyResults): FoundAt[] {
  const byPoint = new Map<number, StudySearch[]>();
  for (const search of results.found) byPoint.set(search.point, [...(byPoint.get(search.point) ?? []), search]);
  return [...byPoint].map(([point, searches]) => {
    const loads = searches.flatMap(({ over, sustained }) => (over && sustained !== null ? [sustained] : [])).sort((a, b) => a - b);
    const some = loads.length > 0;
    return {
      point,
      values: searches[0]?.values ?? {},
      searches,
      least: loads[0] ?? null,
      median: some ? median(loads) : null,
      most: loads.at(-1) ?? null,
    };
  });
}

function measured(study: StudyDocument, results: StudyResults, metric: string): Measured[] {
  if (metric === FOUND)
    return foundByPoint(results).flatMap(({ point, values, searches, least, most, median: y }) =>
      y === null ? [] : [{ point, share: null, values, y, low: least, high: most, count: searches.length }],
    );
  const load = loadOf(study)?.name;
  return results.points.flatMap((one) => {
    const interval = one.over_seeds[metric];
    if (!interval) return [];
    const { mean: y, ...rest } = interval;
    return [{ point: one.point, share: one.share, values: { ...one.values, ...loadAt(one, load), [SHARE]: one.share }, y, ...rest }];
  });
}

/** At a share of the load found each seed has its own load: their mean. */
function loadAt(point: StudyPoint, load: string | undefined): AxisValues {
  const loads = load ? point.runs.flatMap(({ values }) => (typeof values[load] === "number" ? [values[load]] : [])) : [];
  return load && loads.length ? { [load]: mean(loads) } : {};
}

/** Each run by itself, for a study that only repeats. */
const bySeed = (results: StudyResults, metric: string): Measured[] =>
  results.points.flatMap(({ point, share, runs }) =>
    runs.flatMap(({ seed, metrics }) => {
      const y = metrics[metric];
      return y === undefined ? [] : [{ point, share, values: { [SEED]: seed }, y, low: null, high: null, count: 1 }];
    }),
  );

/** Dimensions that tell lines apart. Where all axes move at a time, or points are drawn, numbers do not. */
export function telling(study: StudyDocument, dimensions: Dimension[], across: string, metric: string): Dimension[] {
  return dimensions.filter(({ name, of, numeric }) => {
    if (name === across || of === "load" || of === "seed") return false;
    if (of === "share") return metric !== FOUND;
    return designOf(study) !== "together" && !(isDrawn(study) && numeric);
  });
}

/** One line for each choice of the other dimensions; a line's spots go by x. */
export function chartLines(study: StudyDocument, results: StudyResults, { metric, across, held }: Shown): ChartedLine[] {
  const dimensions = dimensionsOf(study);
  const x = dimensions.find(({ name }) => name === across);
  if (!x || (metric === FOUND && x.of !== "axis")) return [];
  const others = telling(study, dimensions, across, metric);
  const lines = new Map<string, Spot[]>();
  for (const one of x.of === "seed" ? bySeed(results, metric) : measured(study, results, metric)) {
    if (one.values[across] === undefined || !fits(one.values, held, others)) continue;
    const label = others
      .filter(({ name }) => held[name] === undefined)
      .map(({ name }) => `${name.replace(/_/g, " ")} ${valueText(one.values[name])}`)
      .join(", ");
    const { values, ...spot } = one;
    lines.set(label, [...(lines.get(label) ?? []), { ...spot, x: values[across] as Json }]);
  }
  return [...lines].map(([label, spots]) => ({ label, spots: x.numeric ? spots.sort((a, b) => Number(a.x) - Number(b.x)) : spots }));
}

const fits = (values: AxisValues, held: Held, dimensions: Dimension[]) =>
  dimensions.every(({ name }) => held[name] === undefined || valueText(values[name]) === held[name]);

/** Values that a dimension has, as texts, in the order of the points. */
export function valuesAlong(results: StudyResults, name: string): string[] {
  const everywhere = [...results.points, ...results.found];
  const all = name === SHARE ? results.points.map(({ share }) => share) : everywhere.map(({ values }) => values[name]);
  return [...new Set(all.filter((value) => value !== undefined && value !== null).map(valueText))];
}

export interface Cells {
  x: number[];
  y: number[];
  /** Rows by y, then by x; null: nothing there. */
  z: (number | null)[][];
  points: (number | null)[][];
}

/** Values over two numeric axes, all others held at one value. */
export function cellsOf(study: StudyDocument, results: StudyResults, { metric, across, held }: Shown, up: string): Cells {
  const others = telling(study, dimensionsOf(study), across, metric).filter(({ name }) => name !== up);
  const all = measured(study, results, metric).filter(({ values }) => fits(values, held, others));
  const along = (name: string) =>
    [...new Set(all.map(({ values }) => values[name]).filter((value): value is number => typeof value === "number"))].sort((a, b) => a - b);
  const [x, y] = [along(across), along(up)];
  const at = (column: number, row: number) => all.find(({ values }) => values[across] === column && values[up] === row);
  const found = y.map((row) => x.map((column) => at(column, row)));
  const each = <Of,>(read: (one: Measured | undefined) => Of) => found.map((row) => row.map(read));
  return { x, y, z: each((one) => one?.y ?? null), points: each((one) => one?.point ?? null) };
}

/** Why there is no heat map; empty: there is one. */
export function whyNoCells(study: StudyDocument): string {
  if ((study.axes ?? []).filter(isNumeric).length < 2) return "A heat map needs two axes of numbers";
  return designOf(study) === "grid" ? "" : "A heat map needs a grid: every combination of the axis values";
}

/** Wider than a decade, and above 0. */
export function isWide(numbers: readonly number[]): boolean {
  const least = Math.min(...numbers);
  return numbers.length > 1 && least > 0 && Math.max(...numbers) / least > 10;
}

/** Whether lines are so wide in y that the axis is logarithmic unless somebody chooses. */
export const areWide = (lines: readonly Pick<ChartedLine, "spots">[]): boolean => isWide(lines.flatMap(({ spots }) => spots.map(({ y }) => y)));

/** Why the axis across cannot be logarithmic; "" when it can. */
export function whyNoLog(across: Dimension, lines: readonly Pick<ChartedLine, "spots">[]): string {
  if (!across.numeric) return "This axis has no numbers";
  const hasNone = lines.some(({ spots }) => spots.some(({ x }) => typeof x === "number" && x <= 0));
  return hasNone ? "Values of 0 or below have no logarithm" : "";
}
