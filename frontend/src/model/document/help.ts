/** What the registry says about each thing that can be chosen, as pages of the help. */
import type { Json, JsonSchema, Kind, Registry } from "../../api/types";
import { deref, formSchema, labelOf, rangeOf, unitOf } from "./schema";

/** Families in the order in which a person meets them; one that is not named here stands behind, under its own name. */
const FAMILIES: [family: string, title: string, what: string][] = [
  ["operators", "Operators", "The building blocks of a query."],
  ["partitionings", "Partitionings", "How records are routed to the instances of the receiving operator."],
  ["streams", "Streams", "The records that a source produces."],
  ["rates", "Rates", "Records generated per second."],
  ["arrivals", "Arrivals", "How records are spaced in time at a given rate."],
  ["disorders", "Disorder", "Delay of a record from its origin to its append to the log."],
  ["watermarks", "Watermarks", "How a source reports the progress of event time."],
  ["retentions", "Retention", "How long a log keeps unread records."],
  ["generations", "Generation", "Open or closed loop."],
  ["processors", "Processors", "How the instances on a host share its cores."],
  ["placements", "Placements", "Which instance runs on which host."],
  ["engines", "Engines", "The streaming engine that executes the query: its driver, its channels and its prices."],
  ["flow_controls", "Flow control", "How a slow receiver holds back a fast sender."],
  ["ingresses", "Ingress", "What sources do while the memory of their host is full."],
  ["checkpointings", "Checkpointing", "How a run survives the loss of hosts."],
  ["snapshots", "Snapshots", "What each checkpoint of an instance stores."],
  ["scalings", "Scaling", "The policy that changes parallelism during a run, and the metrics it uses."],
  ["rescalings", "Rescaling", "How a change of parallelism is executed."],
  ["schedulings", "Scheduling", "Which queries run next on the cores of a host."],
  ["balancings", "Balancing", "Which worksets of similarity joins move to other workers."],
  ["states", "State", "Where operators keep their state."],
  ["memories", "Memory", "What uses the memory of a host, and what happens when it runs out."],
  ["slow_downs", "Slow-down", "How service slows down as memory fills."],
  ["noises", "Noise of services", "Random variation in the cost of equal work."],
  ["drifts", "Drift of services", "Slow change of costs over time."],
  ["warmups", "Warm-up of instances", "How an instance speeds up after its start."],
  ["faults", "Faults", "What can go wrong, and for how long."],
  ["occurrences", "Occurrence of faults", "When a fault happens."],
  ["prices", "Price lists", "Service time per unit of counted work."],
  ["functions", "Functions of expressions", "Functions that predicates and computed fields can call."],
  ["measurements", "Measurements", "What runs measure: the names that assertions can use, with their units."],
  ["assertion_functions", "Functions of assertions", "Functions that the checks of assertions can call."],
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
