/** A document from anywhere, made into one that can be drawn. */
import type { ExperimentDocument } from "../../api/document";
import { freeName } from "./document";

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A draft may lack anything, and may have come from anywhere. Fills in only what the canvas walks and draws (containers, ids, names of
 * kinds and hosts); what is there and can be drawn stays as it is.
 */
export function coerceDocument(given: unknown): ExperimentDocument {
  const draft = isObject(given) ? given : {};
  const query = isObject(draft.query) ? draft.query : {};
  const cluster = isObject(draft.cluster) ? draft.cluster : {};
  const workload = isObject(draft.workload) ? draft.workload : {};
  const sources = isObject(workload.sources) ? workload.sources : {};
  const { faults, ui, policies, measurement, prices, ...rest } = draft;
  return {
    ...rest,
    format: typeof draft.format === "number" ? draft.format : 1,
    name: typeof draft.name === "string" ? draft.name : "Untitled experiment",
    query: {
      ...query,
      operators: namedOperators(objectsIn(query.operators)),
      edges: drawableEdges(objectsIn(query.edges)),
      ...("queries" in query ? { queries: objectsIn(query.queries).map(listedQuery) } : {}),
    },
    cluster: {
      ...cluster,
      hosts: objectsIn(cluster.hosts).map(namedHost),
      ...("region_links" in cluster ? { region_links: objectsIn(cluster.region_links).map(endedLink) } : {}),
    },
    placement: withHostNames(tagged(draft.placement, "spread")),
    workload: { ...workload, sources: Object.fromEntries(Object.entries(objectsOf(sources)).map(([id, parts]) => [id, objectsOf(parts)])) },
    ...(Array.isArray(faults) ? { faults: objectsIn(faults) } : {}),
    ...(isObject(policies) ? { policies: objectsOf(policies) } : {}),
    ...(typeof prices === "string" ? { prices } : {}),
    ...(isObject(measurement) ? { measurement } : {}),
    ...(isObject(ui) ? { ui: isObject(ui.positions) ? ui : { ...ui, positions: {} } } : {}),
  } as unknown as ExperimentDocument;
}

/** The objects in a list, or of a map; the name of a kind is a text. */
const objectsIn = (value: unknown) => (Array.isArray(value) ? value.filter(isObject).map(readable) : []);
const objectsOf = (map: Record<string, unknown>): Record<string, Record<string, unknown>> =>
  Object.fromEntries(Object.entries(map).flatMap(([name, value]) => (isObject(value) ? [[name, readable(value)]] : [])));
const readable = (value: Record<string, unknown>) =>
  "kind" in value && typeof value.kind !== "string" ? { ...value, kind: JSON.stringify(value.kind) ?? "" } : value;
const tagged = (value: unknown, kind: string) => (isObject(value) ? readable({ kind, ...value }) : { kind });

/** Operators without an id, or with that of another, get a free one: the canvas tells them apart by it. */
function namedOperators(operators: Record<string, unknown>[]) {
  const taken = new Set<string>();
  return operators.map((given) => {
    const operator: Record<string, unknown> = { kind: "", ...given };
    const { id, kind } = operator as { id: unknown; kind: string };
    const named = typeof id === "string" && id && !taken.has(id) ? operator : { ...operator, id: freeName(typeof id === "string" && id ? id : kind, taken) };
    taken.add(String(named.id));
    return named;
  });
}

const listedQuery = (query: Record<string, unknown>) => ({
  ...query,
  name: typeof query.name === "string" ? query.name : "",
  operators: Array.isArray(query.operators) ? query.operators.filter((id) => typeof id === "string") : [],
});

function drawableEdges(edges: Record<string, unknown>[]) {
  const ends = ["source", "target"];
  const ports = ["source_port", "target_port"];
  return edges
    .filter((edge) => ends.every((end) => typeof edge[end] === "string"))
    .map((edge) => ({
      ...Object.fromEntries(Object.entries(edge).filter(([field, value]) => !ports.includes(field) || typeof value === "string")),
      partitioning: tagged(edge.partitioning, "forward"),
    }));
}

/** An explicit placement without what names no host. */
function withHostNames(placement: Record<string, unknown>) {
  if (!("hosts" in placement)) return placement;
  const lists = Object.entries(isObject(placement.hosts) ? placement.hosts : {}).filter(([, names]) => Array.isArray(names));
  const names = lists.map(([id, list]) => [id, (list as unknown[]).filter((name) => typeof name === "string")]);
  return { ...placement, hosts: Object.fromEntries(names) as unknown };
}

/** A region link without what names no region. */
const endedLink = (link: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(link).filter(([field, value]) => !["source", "target"].includes(field) || typeof value === "string"));

function namedHost(host: Record<string, unknown>) {
  const name = typeof host.name === "string" ? host.name : String(host.name ?? "");
  return { ...host, name, ...("group" in host ? { group: String(host.group ?? "") } : {}) };
}
