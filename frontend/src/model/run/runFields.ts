/** Fields of runs that lists, groups and pictures are made of: columns of the run, metrics, parameters of its document. */
import { labelOf } from "../document/schema";
import { duration, latency, lower, short } from "../../lib/format";

export type Cell = string | number | null;

/** Units that a condition may be written with. */
export const SCALED_UNITS: readonly string[] = ["ns", "µs", "ms", "s", "/s", "B", "MB", "GB", "B/s", "MB/s", "Mbit/s"];

const OF_RUN: { [name: string]: string } = {
  state: "State",
  experiment: "Experiment",
  author: "Author",
  tag: "Tag",
  number: "Run",
  seed: "Seed",
  took: "Took",
  in: "Records in",
  out: "Records out",
  throughput: "Throughput",
};
const PERCENTILE = /^p\d+$/;
/** Parts of a pointer that say nothing by themselves. */
const SILENT = new Set(["query", "policies", "params", "workload"]);
/** Parts after which a name of somebody's own follows. */
const OWNED = new Set(["operators", "sources", "hosts", "links", "edges", "sinks", "trunks", "latencies_ms"]);

/** A field in words: "join: parallelism" for /query/operators/join/parallelism. */
export function fieldLabel(name: string): string {
  const own = OF_RUN[name];
  if (own || PERCENTILE.test(name)) return own ?? name;
  const parts = name.startsWith("/") ? name.slice(1).split("/").map(unescaped) : name.split(".");
  const at = parts.findIndex((part) => OWNED.has(part));
  const owner = at >= 0 && parts.length > at + 2 ? parts[at + 1] : undefined;
  const below = owner === undefined ? parts : parts.slice(at + 2);
  const rest = below.filter((part, place) => !SILENT.has(part) || place === below.length - 1);
  const labels = rest.map((part) => labelOf(part)).filter((label, place, all) => lower(label) !== lower(all[place - 1] ?? ""));
  const words = labels.map((label, place) => (place || owner !== undefined ? lower(label) : label)).join(" ");
  return owner === undefined ? words : `${owner}: ${words}`;
}

const unescaped = (part: string) => part.replace(/~1/g, "/").replace(/~0/g, "~");

export const titled = (label: string, unit: string): string => (unit ? `${label}, ${unit}` : label);

/** What a run has in a field, as text. */
export function cellText(value: Cell, unit = ""): string {
  if (value === null) return "not set";
  if (typeof value === "string") return value === "" ? "empty" : value;
  if (unit === "ms" && value >= 0) return latency(value).join(" ");
  if (unit === "s" && value >= 60) return duration(value);
  return unit ? `${short(value)}${unit.startsWith("/") ? "" : " "}${unit}` : short(value);
}

/** Of two columns of fields in the address: names between commas. */
export const namesIn = (text: string): string[] => [...new Set(text.split(",").filter(Boolean))];
