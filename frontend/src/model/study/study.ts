/** The study document (docs/studies.md) as its pages see it. */
import type { Axis, Json, StudyDocument } from "../../api/types";
import { labelOf, unitOf } from "../document/schema";
import { pointerParts } from "../document/validate";

export type { Axis, StudyDocument };

export const DRAWN = ["random", "latin_hypercube", "optimise"];

/** What is to be as small, or as large, as can be: a metric of the runs, or an axis. */
export interface Objective {
  metric: string;
  direction?: "minimise" | "maximise";
  over_seeds?: "mean" | "worst";
}

/** What must hold of a point that counts. */
export interface Bound {
  metric: string;
  at_most?: number;
  at_least?: number;
  over_seeds?: "mean" | "worst";
}

export const seedsOf = (study: StudyDocument): number[] => study.seeds ?? [1];
export const designOf = (study: StudyDocument): string => study.design?.kind ?? "grid";
export const isDrawn = (study: StudyDocument) => DRAWN.includes(designOf(study));

/** Points are chosen one after another, from what those before them gave. */
export const isOptimised = (study: StudyDocument) => designOf(study) === "optimise";
export const objectivesOf = (study: StudyDocument): Objective[] =>
  isOptimised(study) && Array.isArray(study.design?.objectives) ? (study.design.objectives as unknown as Objective[]) : [];
export const boundsOf = (study: StudyDocument): Bound[] =>
  isOptimised(study) && Array.isArray(study.design?.bounds) ? (study.design.bounds as unknown as Bound[]) : [];

/** The axis on which a load is searched for; null: nothing is searched for. */
export const loadOf = (study: StudyDocument): Axis | null => (study.search?.kind === "sustainable" ? (study.search.load ?? null) : null);

/** All its values are numbers. */
export function isNumeric(axis: Axis): boolean {
  const { kind, of } = axis.values;
  return kind !== "list" || (Array.isArray(of) && of.every((value) => typeof value === "number"));
}

export const isLogarithmic = (axis: Axis) => axis.values.kind === "log" || axis.values.scale === "log";

/** The unit of what an axis sets, where all its fields have the same; a factor has none. */
export function axisUnit(axis: Axis): string {
  if (axis.multiply) return "×";
  const units = new Set(axis.fields.map((field) => unitOf(pointerParts(field).at(-1) ?? "")));
  return units.size === 1 ? ([...units][0] ?? "") : "";
}

/** "load, ×" */
export const axisTitle = (axis: Axis) => [axis.name.replace(/_/g, " "), axisUnit(axis)].filter(Boolean).join(", ");

const DIGITS = 6;
const KIND_FIELDS_MAX = 3;

/** A value of an axis in few letters. */
export function valueText(value: Json | undefined): string {
  if (value === undefined || value === null) return "none";
  if (typeof value === "number") return Number(value.toPrecision(DIGITS)).toLocaleString("en-US", { maximumSignificantDigits: DIGITS });
  if (typeof value === "string") return value === "" ? "empty" : value;
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  const { kind, ...rest } = value;
  const fields = Object.entries(rest).map(([name, inner]) => `${labelOf(name).toLowerCase()} ${valueText(inner)}`);
  return [...(typeof kind === "string" ? [kind.replace(/_/g, " ")] : []), ...fields.slice(0, KIND_FIELDS_MAX)].join(", ");
}

/** "workers 2, load 1.5" */
export const pointText = (values: { [axis: string]: Json }) =>
  Object.entries(values)
    .map(([name, value]) => `${name.replace(/_/g, " ")} ${valueText(value)}`)
    .join(", ") || "unchanged";

const isPlain = ({ values }: Axis) => !Array.isArray(values.of) || values.of.every((value) => typeof value !== "object");

/** The axes that tell points apart in words: whole placements or policies are left out where an axis that moves with them names them. */
export function namedAxes(study: StudyDocument): Axis[] {
  const axes = study.axes ?? [];
  const plain = designOf(study) === "together" ? axes.filter(isPlain) : [];
  return plain.length ? plain : axes;
}

/** Of a point's values, those of such axes. */
export function namedValues(study: StudyDocument, values: { [axis: string]: Json }): { [axis: string]: Json } {
  const unnamed = new Set((study.axes ?? []).map(({ name }) => name));
  namedAxes(study).forEach(({ name }) => unnamed.delete(name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !unnamed.has(name)));
}

/** Axes in one sentence, for who has not seen the study yet. */
export function questionOf(study: StudyDocument): string {
  const axes = namedAxes(study).map(({ name }) => name.replace(/_/g, " "));
  const load = loadOf(study);
  if (isOptimised(study)) return `Optimum over ${axes.join(" and ")}`;
  const over = axes.length ? `${load ? "by " : "over "}${axes.join(" and ")}` : load ? "" : "repeated with other seeds";
  return [load ? "Sustainable throughput" : "", over].filter(Boolean).join(" ").replace(/^./, (letter) => letter.toUpperCase());
}
