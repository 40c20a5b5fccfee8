/** What the registry says about each thing that can be chosen, as pages of the help. */
import type { Json, JsonSchema, Kind, Registry } from "../../api/types";
import { deref, formSchema, labelOf, rangeOf, unitOf } from "./schema";

/** Families in the order in which a person meets them; one that is not named here stands behind, under its own name. */
const FAMILIES: [family: string, title: string, what: string][] = [
  ["operators", "Operators", "What a query is made of."],
  ["partitionings", "Partitionings", "Which instance of the receiver a record goes to."],
  ["streams", "Streams", "What records a source serves."],
  ["rates", "Rates", "How many records are made per second."],
  ["arrivals", "Arrivals", "How records lie within a rate."],
  ["disorders", "Disorder", "How long a record is on its way from where it was made to the log."],
  ["watermarks", "Watermarks", "How the progress of event time is told."],
  ["retentions", "Retention", "How long a log keeps what has not been read."],
  ["generations", "Generation", "Whether the load waits for the system."],
  ["processors", "Processors", "How the instances on a host share its cores."],
  ["placements", "Placements", "Which instance stands on which host."],
  ["flow_controls", "Flow control", "What holds a fast sender back."],
  ["ingresses", "Ingress", "What sources do while their host is full."],
  ["checkpointings", "Checkpointing", "How a run survives the loss of hosts."],
  ["scalings", "Scaling", "Who changes the parallelism while a query runs, and from what."],
  ["rescalings", "Rescaling", "How a change of parallelism is carried out."],
  ["memories", "Memory", "What a host holds, and what follows when it is full."],
  ["slow_downs", "Slow-down", "How services slow down as memory fills."],
  ["noises", "Noise of services", "How much the cost of equal work differs."],
  ["drifts", "Drift of services", "How cost wanders over time."],
  ["warmups", "Warm-up of instances", "How an instance gets faster after its start."],
  ["faults", "Faults", "What can go wrong, and when it is over."],
  ["occurrences", "Occurrence of faults", "When a fault happens."],
  ["prices", "Price lists", "What counted work costs in time."],
  ["functions", "Functions of expressions", "What a predicate or a field may call."],
];

export interface HelpFamily {
  family: string;
  title: string;
  what: string;
  kinds: Kind[];
}

const spokenName = (family: string) => family.replace(/_/g, " ").replace(/^./, (letter) => letter.toUpperCase());

export function helpFamilies(registry: Registry): HelpFamily[] {
  const known = new Map(FAMILIES.map(([family, title, what], at) => [family, { title, what, at }]));
  return (Object.entries(registry) as [string, Kind[]][])
    .map(([family, kinds]) => ({ family, kinds, title: known.get(family)?.title ?? spokenName(family), what: known.get(family)?.what ?? "" }))
    .sort((a, b) => (known.get(a.family)?.at ?? FAMILIES.length) - (known.get(b.family)?.at ?? FAMILIES.length));
}

/** Those of whose text every word is a part; titles first. Families that are left without a kind are left out. */
export function searchHelp(families: HelpFamily[], search: string): HelpFamily[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return families;
  return families
    .map((one) => {
      const found = one.kinds
        .map((kind) => ({ kind, title: `${kind.title} ${kind.kind}`.toLowerCase(), text: textOf(one, kind) }))
        .filter(({ text }) => words.every((word) => text.includes(word)));
      const inTitle = (title: string) => (words.every((word) => title.includes(word)) ? 0 : 1);
      return { ...one, kinds: found.sort((a, b) => inTitle(a.title) - inTitle(b.title)).map(({ kind }) => kind) };
    })
    .filter(({ kinds }) => kinds.length);
}

const textOf = (family: HelpFamily, { title, kind, group, doc, source }: Kind) =>
  [family.title, title, kind, kind.replace(/_/g, " "), group, doc, source].join(" ").toLowerCase();

export interface HelpParameter {
  name: string;
  label: string;
  unit: string;
  type: string;
  range: string;
  description: string;
}

/** A kind's parameters as its schema has them. */
export function parametersOf(kind: Pick<Kind, "schema">): HelpParameter[] {
  const schema = formSchema(kind.schema);
  const properties = (schema.properties ?? {}) as { [name: string]: JsonSchema };
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties)
    .map(([name, raw]) => [name, deref(schema, raw)] as const)
    .filter(([, field]) => field.const === undefined)
    .map(([name, field]) => ({
      name,
      label: labelOf(name, field),
      unit: unitOf(name, field),
      type: typeOf(field),
      range: [required.includes(name) && field.default === undefined ? "required" : "", rangeOf(field)].filter(Boolean).join(", "),
      description: typeof field.description === "string" ? field.description : "",
    }));
}

function typeOf(field: JsonSchema): string {
  if (Array.isArray(field.enum)) return field.enum.map(String).join(", ");
  if (field.oneOf || field.anyOf) return "a choice";
  const names: { [type: string]: string } = {
    number: "number",
    integer: "whole number",
    string: "text",
    boolean: "on or off",
    array: "list",
    object: "fields",
  };
  return names[String(field.type as Json)] ?? "";
}
