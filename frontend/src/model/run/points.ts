/** Runs as points: what a picture of many runs needs of the columns that the server sends. */
import type { Asked, RunPoints } from "../../api/types";
import { lower, short } from "../../lib/format";
import { choicesOf, inRange, oneOf, unset } from "./condition";
import { cellText, fieldLabel, titled, type Cell } from "./runFields";

export interface Field {
  name: string;
  unit: string;
  texts: boolean;
}

/** A column of values along an axis. */
export interface Axis {
  field: Field;
  title: string;
  /** Of numbers: logarithmic or linear; else a place for each value. */
  scale: "log" | "linear" | "category";
  /** Of an axis of categories, in their order. */
  categories: Cell[];
  /** The least and the greatest number; null without any. */
  extent: readonly [number, number] | null;
  cells: readonly Cell[];
}

/** So few numbers of a parameter are told apart as categories by colour. */
export const CLASSES_MAX = 6;

export function axisOf(field: Field, cells: readonly Cell[], log: boolean): Axis {
  const numbers = cells.filter((cell) => typeof cell === "number");
  const isCategory = cells.some((cell) => typeof cell === "string") || !numbers.length;
  const extent = numbers.length ? ([minimum(numbers), maximum(numbers)] as const) : null;
  const scale = isCategory ? "category" : log && extent && extent[0] > 0 ? "log" : "linear";
  const categories = isCategory ? [...new Set(cells)].sort(inOrder) : [];
  return { field, title: titled(fieldLabel(field.name), isCategory ? "" : field.unit), scale, categories, extent, cells };
}

/** The axis of a field as it was asked for, which may be by the end of its name; null while the answer is one about other fields. */
export function axisNamed({ asked, fields, columns }: Asked<Pick<RunPoints, "fields" | "columns">>, name: string, log: boolean): Axis | null {
  const at = asked.indexOf(name);
  const field = fields[at];
  return field ? axisOf(field, columns[at] ?? [], log) : null;
}

/** Fields that can be axes and colours. */
export const POINT_FIELDS = { own: ["state", "experiment", "author", "number", "seed", "took"], metrics: true, parameters: true };

const minimum = (numbers: readonly number[]) => numbers.reduce((least, number) => Math.min(least, number), Infinity);
const maximum = (numbers: readonly number[]) => numbers.reduce((most, number) => Math.max(most, number), -Infinity);

/** Numbers before texts, nothing last. */
function inOrder(one: Cell, other: Cell): number {
  const rank = (cell: Cell) => (cell === null ? 2 : typeof cell === "string" ? 1 : 0);
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one === "string" && typeof other === "string") return one < other ? -1 : one > other ? 1 : 0;
  return rank(one) - rank(other);
}

/** Why an axis cannot be logarithmic; null if it can. */
export function logRefusal({ scale, extent }: Axis): string | null {
  if (scale === "category") return "Texts have no logarithm";
  return extent && extent[0] > 0 ? null : "A logarithmic axis needs numbers above 0";
}

/** The place of a value on an axis, 0 to 1; null if it has none there. */
export function placeOf(axis: Axis, cell: Cell): number | null {
  if (axis.scale === "category") {
    const at = axis.categories.indexOf(cell);
    return at < 0 ? null : (at + 0.5) / axis.categories.length;
  }
  if (typeof cell !== "number" || !axis.extent) return null;
  const [low, high] = axis.extent.map(scaled(axis)) as [number, number];
  return high > low ? (scaled(axis)(cell) - low) / (high - low) : 0.5;
}

const scaled = ({ scale }: Axis) => (scale === "log" ? Math.log10 : (value: number) => value);

/** What stands at a place of an axis: a number, or the position among the categories, where each is a whole number. */
export function coordinateAt(axis: Axis, place: number): number {
  if (axis.scale === "category") return place * axis.categories.length - 0.5;
  const [low, high] = (axis.extent ?? [0, 1]).map(scaled(axis)) as [number, number];
  const value = low + place * (high - low);
  return axis.scale === "log" ? 10 ** value : value;
}

const TICKS = 5;

/** Marks along an axis: a round number each, or a category. at: its coordinate. */
export function ticksOf(axis: Axis): { place: number; at: number; text: string }[] {
  if (axis.scale === "category")
    return axis.categories.map((cell, at) => ({ place: placeOf(axis, cell) ?? 0, at, text: cellText(cell, axis.field.unit) }));
  if (!axis.extent) return [];
  const [low, high] = axis.extent;
  if (low === high) return [{ place: 0.5, at: low, text: short(low) }];
  return roundNumbers(axis, low, high).map((at) => ({ place: placeOf(axis, at) ?? 0, at, text: short(at) }));
}

function roundNumbers({ scale }: Axis, low: number, high: number): number[] {
  if (scale === "log") {
    const found: number[] = [];
    for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.ceil(Math.log10(high)); exponent++)
      for (const factor of [1, 2, 5]) found.push(factor * 10 ** exponent);
    const within = found.filter((value) => value >= low && value <= high);
    const decades = within.filter((value) => Number.isInteger(Math.round(Math.log10(value) * 1e9) / 1e9));
    if (within.length > 2) return within.length > 2 * TICKS && decades.length > 1 ? decades : within;
  }
  const raw = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, at) => (first + at) * step);
}

/** The condition for a stretch of an axis, between two coordinates; null if there is nothing in it. search: as it is. */
export function brushed(axis: Axis, from: number, to: number, search: string): string | null {
  const { field, categories } = axis;
  const [low, high] = from <= to ? [from, to] : [to, from];
  if (axis.scale === "category") {
    return ofCategories(
      field,
      categories.filter((_, at) => at >= low && at <= high),
    );
  }
  if (!axis.extent) return null;
  const [least, most] = axis.extent;
  // A range that replaces another lies within it, as all that is drawn does: the search narrows and never widens.
  const within = choicesOf(search, field.name).length > 0;
  const ends: [number, number] = within ? [Math.max(low, least), Math.min(high, most)] : [low, high];
  const numbers = axis.cells.filter((cell) => typeof cell === "number");
  if (!numbers.some((number) => number >= ends[0] && number <= ends[1])) return null;
  const isWhole = numbers.every(Number.isInteger);
  return inRange(field.name, isWhole ? [Math.ceil(ends[0]), Math.floor(ends[1])] : ends, field.unit);
}

/** The condition for some categories. A search has no word for "this value, or none": the runs without a value are only chosen alone. */
export function ofCategories(field: Field, chosen: readonly Cell[]): string | null {
  const values = chosen.filter((cell) => cell !== null);
  if (values.length) return oneOf(field.name, values, values.some((value) => typeof value === "number") || field.name.startsWith("/"));
  return chosen.length ? unset(field.name) : null;
}

export interface Colouring {
  /** A class for each run: its place in `classes`; -1: none. */
  classOf: readonly number[];
  classes: { label: string; count: number }[];
  /** Of numbers that are too many for classes: the axis along which the colour goes. */
  along: Axis | null;
}

/** How runs are told apart by a field: by a few classes, the most frequent ones first and the others together, or along a scale. */
export function colouringOf(axis: Axis | null, count: number): Colouring {
  if (!axis) return { classOf: Array.from({ length: count }, () => 0), classes: [{ label: "", count }], along: null };
  const distinct = [...new Set(axis.cells)].sort(inOrder);
  if (axis.scale !== "category" && distinct.length > CLASSES_MAX) return { classOf: axis.cells.map(() => 0), classes: [], along: axis };
  const counts = new Map<Cell, number>();
  for (const cell of axis.cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  const isMany = distinct.length > CLASSES_MAX;
  const frequent = [...distinct].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const named = isMany ? frequent.slice(0, CLASSES_MAX - 1) : distinct;
  const classes = named.map((cell) => ({ label: cellText(cell, axis.field.unit), count: counts.get(cell) ?? 0 }));
  if (isMany) {
    const rest = frequent.slice(CLASSES_MAX - 1);
    classes.push({ label: `${rest.length} others`, count: rest.reduce<number>((sum, cell) => sum + (counts.get(cell) ?? 0), 0) });
  }
  const place = new Map(named.map((cell, at) => [cell, at]));
  return { classOf: axis.cells.map((cell) => place.get(cell) ?? classes.length - 1), classes, along: null };
}

/** How many runs a picture leaves out, as a sentence; empty if it shows all. */
export function leftOutText(drawn: number, count: number): string {
  if (drawn >= count) return "";
  const numbers = [drawn, count, count - drawn].map((number) => number.toLocaleString("en-US"));
  return `The newest ${numbers[0]} of ${numbers[1]} runs are drawn; ${numbers[2]} older ones are left out. Narrow the search to see them.`;
}

/** How many of the runs have no place on an axis, as a sentence for each. */
export function unplacedText(axes: readonly Axis[]): string {
  return axes
    .map((axis) => ({ axis, count: axis.scale === "category" ? 0 : axis.cells.filter((cell) => typeof cell !== "number").length }))
    .filter(({ count }) => count > 0)
    .map(({ axis, count }) => `${count.toLocaleString("en-US")} of them ${count === 1 ? "has" : "have"} no ${lower(fieldLabel(axis.field.name))}.`)
    .join(" ");
}
