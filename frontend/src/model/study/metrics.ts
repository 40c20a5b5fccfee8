/** What runs measure, by dotted names (`latency_ms.p99`), in words. */
import { lower } from "../../lib/format";
import { labelOf, unitOf } from "../document/schema";

export interface Metric {
  name: string;
  label: string;
  unit: string;
  /** Whose it is: the run's, an operator's, a host's. */
  group: string;
}

/** The load that a search found. It is no number of a run. */
export const FOUND = "sustained";

const WHOLE_RUN = "Whole run";
const FAMILIES: { [first: string]: string } = { operators: "Operator", hosts: "Host", latencies_ms: "Latency" };

/** Metrics of the whole run that belong together. */
const TOPICS: { [first: string]: string } = { checkpointing: "Checkpointing", scaling: "Scaling" };

export function metricOf(name: string): Metric {
  if (name === FOUND) return { name, label: "Sustainable load", unit: "", group: "Search" };
  const parts = name.split(".");
  const family = FAMILIES[parts[0] ?? ""];
  const owner = family && parts.length > 2 ? parts[1] : undefined;
  const topic = TOPICS[parts[0] ?? ""];
  const group = owner ? `${family} ${owner}` : (topic ?? WHOLE_RUN);
  const own = owner ? parts.slice(2) : topic ? parts.slice(1) : parts;
  const unit = own.map((part) => unitOf(part)).find(Boolean) ?? (parts[0] === "latencies_ms" ? "ms" : "");
  const words = own.map((part, at) => (at ? lower(labelOf(part)) : labelOf(part)));
  const label = words.filter((word) => word !== "Attribution").join(" ");
  return { name, label: owner ? `${owner}: ${lower(label)}` : label, unit, group };
}

export const metricTitle = ({ label, unit }: Metric) => (unit ? `${label}, ${unit}` : label);

const FIRST = ["latency_ms.p99", "throughput_out_per_s", "latency_ms.p50"];

/** What is shown of a study before somebody chooses. */
export function firstMetrics(known: readonly string[], searches: boolean): string[] {
  const measured = FIRST.filter((name) => known.includes(name));
  return searches ? [FOUND, ...measured.slice(0, 1)] : measured.slice(0, 2);
}

/** Metrics in the address: those that can be shown; the usual ones where it names none. */
export function metricsNamed(text: string, known: readonly string[], searches: boolean): string[] {
  const named = text.split(",").filter((name) => known.includes(name) || (searches && name === FOUND));
  return named.length ? [...new Set(named)] : firstMetrics(known, searches);
}
