/** A run's query on a real Spark: what its micro-batches took, and whether its records are the engine's. */
import type { MicroBatch, SparkComparison, SparkRun } from "../../api/types";
import { plural, short } from "../../lib/format";

/** What a micro-batch spends its time on, in the order in which it does; Spark's names. */
const OPERATIONS = [
  { name: "latestOffset", label: "find new input" },
  { name: "queryPlanning", label: "plan" },
  { name: "walCommit", label: "log the offsets" },
  { name: "addBatch", label: "work on records" },
  { name: "commitOffsets", label: "commit" },
] as const;

export interface Part {
  name: string;
  label: string;
  /** By micro-batch. */
  ms: number[];
}

/** By operation, those that took no time left out; all others come last. */
export function partsOf(batches: MicroBatch[]): Part[] {
  const known = new Set<string>(OPERATIONS.map(({ name }) => name));
  const parts = OPERATIONS.map(({ name, label }) => ({ name, label, ms: batches.map(({ operations_ms }) => operations_ms[name] ?? 0) }));
  const other = batches.map(({ operations_ms, took_ms }) => {
    const named = Object.entries(operations_ms).reduce((sum, [name, ms]) => sum + (known.has(name) ? ms : 0), 0);
    return Math.max(0, took_ms - named);
  });
  return [...parts, { name: "other", label: "other", ms: other }].filter(({ ms }) => ms.some((one) => one > 0));
}

export const sinksOf = (batches: MicroBatch[]): string[] => [...new Set(batches.map(({ sink }) => sink))].sort();

/** Records per second while the micro-batch worked; null for one without time. */
export const rateOf = ({ records_in, took_ms }: MicroBatch): number | null => (took_ms > 0 ? (records_in * 1000) / took_ms : null);

/** "Equal: both deliver 963 records." or how many differ, and where to look. */
export function verdictOf({ equal, sinks, late, dropped }: SparkComparison): string {
  const all = Object.entries(sinks);
  if (equal) {
    const count = all.reduce((sum, [, one]) => sum + one.of_spark, 0);
    return `Equal: the model and Spark deliver the same ${plural(count, "record")}.`;
  }
  const worst = all.filter(([, one]) => !one.equal).map(([name, one]) => `${short(one.differing)} of ${name}`);
  const why = late || dropped ? ` Records were late: the model dropped ${short(late)}, Spark ${short(dropped)}. A longer lag of the watermarks keeps them.` : "";
  return `Different: ${worst.join(", ")}.${why}`;
}

/** What it does now, as a sentence. */
export const stageOf = ({ state, doing, batches }: SparkRun): string => {
  if (state === "queued") return "Waiting for the analysis worker";
  const done = batches ? `, ${plural(batches, "micro-batch", "micro-batches")} done` : "";
  return `${doing ? doing.replace(/^./, (first) => first.toUpperCase()) : "Starting"}${doing === "streaming" ? done : ""}`;
};
