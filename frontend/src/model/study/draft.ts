/** A study before it starts: what it begins with, what choices bring along, and why it cannot start yet. */
import type { JsonSchema, Problem, Tagged } from "../../api/types";
import type { StudyDocument } from "./study";

/** What was chosen so far. Without an experiment of its own that of its origin holds. */
export type Draft = Omit<StudyDocument, "experiment"> & { experiment?: StudyDocument["experiment"] };

/** What another study says is taken with its experiment; otherwise the experiment is the origin's, as it is when the study starts. */
export function firstDraft(named: { kind: string; id: string } | null, study: StudyDocument): Draft {
  if (!named || named.kind === "study") return study;
  const { experiment: _, ...draft } = study;
  return draft;
}

const POINTS_FIRST = 20;
const TRIALS_FIRST = 40;

/** A design that draws needs to know how often, one that optimises also for what. */
export function complete(design: Tagged): Tagged {
  if (design.kind === "optimise")
    return {
      ...design,
      trials: design.trials ?? TRIALS_FIRST,
      objectives: Array.isArray(design.objectives) && design.objectives.length ? design.objectives : [{ metric: "latency_ms.p99" }],
    };
  const draws = design.kind === "random" || design.kind === "latin_hypercube";
  return draws && design.points === undefined ? { ...design, points: POINTS_FIRST } : design;
}

export const experimentName = (study: StudyDocument) => {
  const name = (study.experiment as { name?: unknown } | null)?.name;
  return typeof name === "string" && name ? name : "an experiment without a name";
};

/** What is wrong with an entry of a list that is edited in one line stands at the list. */
export const upTo =
  (list: string) =>
  (problem: Problem): Problem =>
    problem.pointer.startsWith(`${list}/`) ? { ...problem, pointer: list } : problem;

/** Seeds 1 to `count`. */
export const isFirst = (seeds: readonly number[], count: number) => seeds.length === count && seeds.every((seed, at) => seed === at + 1);

/** The schema of a part of the document, by its name. */
export function partOf(schema: JsonSchema, name: string): JsonSchema {
  const parts = schema.$defs as { [name: string]: JsonSchema } | undefined;
  return { ...(parts?.[name] ?? {}), $defs: schema.$defs ?? {} };
}

/** Why the study cannot start, or "" when it can. fresh: it was checked as it is now. lost: why it could not be checked. */
export function whyNot({
  errors,
  fresh,
  lost,
  starting,
  asks,
}: {
  errors: Problem[];
  fresh: boolean;
  lost: string;
  starting: boolean;
  asks: boolean;
}): string {
  if (starting) return "Starting";
  if (lost) return `Check failed: ${lost}`;
  if (!fresh) return "Checking";
  if (errors[0]) return `Cannot start yet: ${errors[0].message} Click to go there.`;
  return asks ? "" : "This would be a single run: add an axis, more seeds, or a search";
}

