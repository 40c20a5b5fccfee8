/** What an optimisation tried, as charts and sentences: pure functions of its document and its trials. */
import type { StudyOptimisation, TriedPoint } from "../../api/types";
import { short } from "../../lib/format";
import { metricOf, metricTitle } from "./metrics";
import { axisUnit, boundsOf, objectivesOf, type Bound, type Objective, type StudyDocument } from "./study";

/** "Latency p99, ms", or the name of an axis. */
export function soughtTitle(study: StudyDocument, metric: string): string {
  const axis = (study.axes ?? []).find(({ name }) => name === metric);
  return axis ? [metric.replace(/_/g, " "), axisUnit(axis)].filter(Boolean).join(", ") : metricTitle(metricOf(metric));
}

const inside = (words: string) => words.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());

/** "minimise latency p99, ms" */
export const objectiveText = (study: StudyDocument, { metric, direction }: Objective) =>
  `${direction === "maximise" ? "maximise" : "minimise"} ${inside(soughtTitle(study, metric))}`;

/** "latency p99, ms at most 40" */
export const boundText = (study: StudyDocument, { metric, at_most, at_least }: Bound) =>
  `${inside(soughtTitle(study, metric))} ${at_most === undefined ? `at least ${short(at_least ?? 0)}` : `at most ${short(at_most)}`}`;

export type Outcome = "counts" | "breaks a bound" | "no value";

export interface TrialSpot {
  point: number;
  /** From 1. */
  trial: number;
  y: number;
  outcome: Outcome;
}

const outcomeOf = ({ feasible, failure }: TriedPoint): Outcome => (feasible ? "counts" : failure ? "no value" : "breaks a bound");

/** An objective trial by trial; trials without a value are left out. */
export const historyOf = (trials: readonly TriedPoint[], at: number): TrialSpot[] =>
  trials.flatMap((trial) => {
    const y = trial.objectives[at];
    return trial.ended && typeof y === "number" ? [{ point: trial.point, trial: trial.point + 1, y, outcome: outcomeOf(trial) }] : [];
  });

/** The best value that counted up to each trial, as the corners of a staircase. */
export function bestSoFar(spots: readonly TrialSpot[], { direction }: Objective): { trial: number; y: number }[] {
  const better = (a: number, b: number) => (direction === "maximise" ? a > b : a < b);
  const steps: { trial: number; y: number }[] = [];
  for (const { trial, y, outcome } of spots) {
    const last = steps.at(-1);
    if (outcome === "counts" && (!last || better(y, last.y))) steps.push({ trial, y });
  }
  const [first, last] = [steps.at(-1), spots.at(-1)];
  return first && last && last.trial > first.trial ? [...steps, { trial: last.trial, y: first.y }] : steps;
}

/** Why there is no best point yet, or at all. */
export function whyNoBest(study: StudyDocument, { trials, best }: StudyOptimisation, active: boolean): string {
  if (best.length) return "";
  const ended = trials.filter((trial) => trial.ended);
  if (!ended.length) return "No trial has ended yet";
  const which = ended.some(({ failure }) => failure) ? "has all values and keeps" : boundsOf(study).length ? "keeps" : "has";
  return `None of ${ended.length} ${which} ${boundsOf(study).length ? "all bounds" : "a value"}${active ? " so far" : ""}`;
}

/** What is shown first of an optimisation: what it looks for. */
export function soughtMetrics(study: StudyDocument, known: readonly string[]): string[] {
  const names = [...objectivesOf(study), ...boundsOf(study)].map(({ metric }) => metric);
  return [...new Set(names)].filter((name) => known.includes(name)).slice(0, 2);
}
