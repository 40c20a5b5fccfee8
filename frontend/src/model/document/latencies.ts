/** The latencies that a run measures, in words. */
import type { Json } from "../../api/types";

const FROM: Record<string, string> = { event: "event time", append: "append", ingest: "ingest", deadline: "the record's own event time" };
const ANCHOR: Record<string, string> = {
  trigger: "triggering record",
  newest: "newest record",
  oldest: "oldest record",
  mixed: "older record of a pair, newest of a group",
};
const TO: Record<string, string> = { sink: "output", emit: "emission", read: "reading", watermark: "output of a watermark", marker: "output of a latency marker" };

export interface NamedLatency {
  /** Empty for the first, which waterfalls explain. */
  name: string;
  /** From which clock to which point, and whose clock. */
  definition: string;
}

/** The name of a latency as one reads it. */
export const latencyTitle = (name: string) => name.replace(/_/g, " ") || "measured";

/** A latency as the document has it; a draft may lack anything. */
export type Written = { name?: string; from?: string; anchor?: string; to?: string };

/** What a latency of `measurement.also` is if it does not say so itself. */
const ALSO = { from: "event", anchor: "newest" };

/** measurement: that part of a document, which may be broken. */
export function latenciesOf(measurement: { [field: string]: Json } | undefined): NamedLatency[] {
  const first = (measurement?.latency ?? {}) as Written;
  return [
    { name: "", definition: inWords({ from: "append", anchor: "trigger", ...first }) },
    ...furtherOf(measurement).map((one) => ({ name: one.name ?? "", definition: definitionOf(one) })),
  ];
}

export const furtherOf = (measurement: { [field: string]: Json } | undefined): Written[] =>
  Array.isArray(measurement?.also) ? (measurement.also as Written[]) : [];

export const definitionOf = (one: Written) => inWords({ ...ALSO, ...one });

/** One more latency, under a name that no other has. */
export function withFurther(also: Written[]): Written[] {
  const taken = new Set(also.map((one) => one.name));
  let number = also.length + 2;
  while (taken.has(`latency_${number}`)) number += 1;
  return [...also, { name: `latency_${number}`, ...ALSO, to: "sink" }];
}

function inWords({ from = "", anchor = "", to = "sink" }: Written): string {
  const whose = from === "deadline" || ["read", "watermark", "marker"].includes(to) ? "" : `, ${ANCHOR[anchor] ?? anchor}`;
  return `${FROM[from] ?? from} to ${TO[to] ?? to}${whose}`;
}
