/** The latencies that a run measures, in words. */
import type { Json } from "../api/types";

const FROM: Record<string, string> = { event: "event time", append: "append", ingest: "ingest", deadline: "the record's own event time" };
const ANCHOR: Record<string, string> = { trigger: "triggering record", newest: "newest record", oldest: "oldest record" };
const TO: Record<string, string> = { sink: "output", emit: "emission" };

export interface NamedLatency {
  /** Empty for the first, which waterfalls explain. */
  name: string;
  /** From which clock to which point, and whose clock. */
  definition: string;
}

type Written = { name?: string; from?: string; anchor?: string; to?: string };

/** measurement: that part of a document, which may be broken. */
export function latenciesOf(measurement: { [field: string]: Json } | undefined): NamedLatency[] {
  const first = (measurement?.latency ?? {}) as Written;
  const also = Array.isArray(measurement?.also) ? (measurement.also as Written[]) : [];
  return [
    { name: "", definition: inWords({ from: "append", anchor: "trigger", ...first }) },
    ...also.map((one) => ({ name: one.name ?? "", definition: inWords({ from: "event", anchor: "newest", ...one }) })),
  ];
}

function inWords({ from = "", anchor = "", to = "sink" }: Written): string {
  const whose = from === "deadline" ? "" : `, ${ANCHOR[anchor] ?? anchor}`;
  return `${FROM[from] ?? from} to ${TO[to] ?? to}${whose}`;
}
