/** The experiment document as the canvas sees it, and every edit as a pure function (document in, document out). */
import type { Tagged, Json } from "../../api/types";

export type { Tagged };

export interface Operator {
  id: string;
  kind: string;
  /** Not given: one instance. */
  parallelism?: number;
  params?: { [field: string]: Json };
  cost?: Json;
}

export interface Edge {
  source: string;
  source_port?: string;
  target: string;
  target_port?: string;
  partitioning: Tagged;
  /** Closes a cycle: carries records back, and no watermarks. */
  feedback?: boolean;
  /** Of a feedback edge into a port that no other edge leads to: what its records consist of. */
  fields?: { name: string; type: string }[];
}

export interface Host {
  name: string;
  count?: number;
  group?: string;
  processor?: Tagged;
  memory?: Tagged;
  cores?: number;
  speed?: number;
  memory_mb?: number;
  egress_mbit_per_s?: number;
  egress_latency_ms?: number;
}

export interface SourceWorkload {
  stream: Tagged;
  rate: Tagged;
  arrivals?: Tagged;
  disorder?: Tagged;
  watermarks?: Tagged;
  retention?: Tagged;
  generation?: Tagged;
}

export interface Position {
  x: number;
  y: number;
}

export interface ExperimentDocument {
  format: number;
  name: string;
  description?: string;
  query: { operators: Operator[]; edges: Edge[] };
  cluster: { hosts: Host[]; links?: Json[]; local_latency_ns?: number };
  placement: Tagged & { hosts?: { [operator: string]: string[] } };
  workload: {
    seed?: number;
    horizon_s?: number;
    warmup_s?: number;
    sources: { [operator: string]: SourceWorkload };
    [field: string]: unknown;
  };
  policies?: { [family: string]: Json };
  faults?: Tagged[];
  prices?: string;
  measurement?: { [field: string]: Json };
  backend?: Json;
  ui?: { positions?: { [operator: string]: Position }; [field: string]: unknown };
}

export const DEFAULT_PORT = { source: "out", target: "in" } as const;
export const MAX_OPERATOR_ID = 63;

export function emptyDocument(name = "Untitled experiment"): ExperimentDocument {
  return {
    format: 1,
    name,
    description: "",
    query: { operators: [], edges: [] },
    cluster: {
      local_latency_ns: 1000,
      hosts: [
        {
          name: "w",
          count: 4,
          group: "cloud",
          processor: { kind: "shared_fifo" },
          cores: 1,
          speed: 1,
          memory_mb: 4096,
          egress_mbit_per_s: 1000,
          egress_latency_ms: 0.5,
        },
      ],
    },
    placement: { kind: "spread" },
    workload: { seed: 1, horizon_s: 30, warmup_s: 5, drain: false, drain_limit_s: 60, sources: {} },
    policies: { flow_control: { kind: "unbounded" } },
    prices: "reference",
    measurement: { frame_ms: 250, latency: { from: "append", anchor: "trigger" } },
    backend: { kind: "modelled" },
    ui: { positions: {} },
  };
}

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
    query: { ...query, operators: namedOperators(objectsIn(query.operators)), edges: drawableEdges(objectsIn(query.edges)) },
    cluster: { ...cluster, hosts: objectsIn(cluster.hosts).map(namedHost) },
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

function drawableEdges(edges: Record<string, unknown>[]) {
  const ends = ["source", "target"];
  const ports = ["source_port", "target_port"];
  return edges
    .filter((edge) => ends.every((end) => typeof edge[end] === "string"))
    .map((edge) => ({
      ...Object.fromEntries(Object.entries(edge).filter(([field, value]) => !ports.includes(field) || typeof value === "string")),
      partitioning: tagged(edge.partitioning, "rebalance"),
    }));
}

/** An explicit placement without what names no host. */
function withHostNames(placement: Record<string, unknown>) {
  if (!("hosts" in placement)) return placement;
  const lists = Object.entries(isObject(placement.hosts) ? placement.hosts : {}).filter(([, names]) => Array.isArray(names));
  const names = lists.map(([id, list]) => [id, (list as unknown[]).filter((name) => typeof name === "string")]);
  return { ...placement, hosts: Object.fromEntries(names) as unknown };
}

function namedHost(host: Record<string, unknown>) {
  const name = typeof host.name === "string" ? host.name : String(host.name ?? "");
  return { ...host, name, ...("group" in host ? { group: String(host.group ?? "") } : {}) };
}

/** A name that no operator has yet: "filter", "filter-2", ... */
export function freeName(base: string, taken: Iterable<string>): string {
  const used = new Set(taken);
  const clean =
    base
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, "-")
      .replace(/^[^a-z]+/, "")
      .slice(0, MAX_OPERATOR_ID - 4) || "operator";
  if (!used.has(clean)) return clean;
  for (let number = 2; ; number += 1) if (!used.has(`${clean}-${number}`)) return `${clean}-${number}`;
}

/** Of a draft, too: what is drawn over time needs a length. */
export const horizonOf = (document: ExperimentDocument) => Math.max(Number(document.workload.horizon_s) || 30, 1e-3);
export const warmupOf = (document: ExperimentDocument) =>
  Math.max(0, Math.min(Number(document.workload.warmup_s) || 0, horizonOf(document)));

/** How often an operator stands side by side. */
export const instancesOf = (operator: Operator | undefined) => operator?.parallelism ?? 1;

export const operatorOf = (document: ExperimentDocument, id: string) => document.query.operators.find((operator) => operator.id === id);
export const edgeKey = (edge: Edge) =>
  `${edge.source}.${edge.source_port ?? DEFAULT_PORT.source}>${edge.target}.${edge.target_port ?? DEFAULT_PORT.target}`;

export function addOperator(
  document: ExperimentDocument,
  operator: Operator,
  position: Position,
  workload?: SourceWorkload,
): ExperimentDocument {
  const next = {
    ...document,
    query: { ...document.query, operators: [...document.query.operators, operator] },
    ui: { ...document.ui, positions: { ...document.ui?.positions, [operator.id]: position } },
  };
  if (!workload) return next;
  return { ...next, workload: { ...next.workload, sources: { ...next.workload.sources, [operator.id]: workload } } };
}

export function patchOperator(document: ExperimentDocument, id: string, patch: Partial<Operator>): ExperimentDocument {
  const operators = document.query.operators.map((operator) => (operator.id === id ? { ...operator, ...patch } : operator));
  return { ...document, query: { ...document.query, operators } };
}

/** Renames an operator everywhere: edges, workload, explicit placement, positions. */
export function renameOperator(document: ExperimentDocument, from: string, to: string): ExperimentDocument {
  const rename = (id: string) => (id === from ? to : id);
  const rekey = <T>(map: { [id: string]: T } | undefined) =>
    Object.fromEntries(Object.entries(map ?? {}).map(([id, value]) => [rename(id), value]));
  return {
    ...document,
    query: {
      ...document.query,
      operators: document.query.operators.map((operator) => ({ ...operator, id: rename(operator.id) })),
      edges: document.query.edges.map((edge) => ({ ...edge, source: rename(edge.source), target: rename(edge.target) })),
    },
    placement: document.placement.hosts ? { ...document.placement, hosts: rekey(document.placement.hosts) } : document.placement,
    workload: { ...document.workload, sources: rekey(document.workload.sources) },
    ui: { ...document.ui, positions: rekey(document.ui?.positions) },
  };
}

function without<T>(map: { [id: string]: T } | undefined, gone: Set<string>): { [id: string]: T } {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([id]) => !gone.has(id)));
}

/** Removes operators with all that hangs on them, and single edges by their key. */
export function removeParts(document: ExperimentDocument, operatorIds: Iterable<string>, edgeKeys: Iterable<string>): ExperimentDocument {
  const gone = new Set(operatorIds);
  const cut = new Set(edgeKeys);
  const keeps = (edge: Edge) => !gone.has(edge.source) && !gone.has(edge.target) && !cut.has(edgeKey(edge));
  return {
    ...document,
    query: {
      ...document.query,
      operators: document.query.operators.filter((operator) => !gone.has(operator.id)),
      edges: document.query.edges.filter(keeps),
    },
    placement: document.placement.hosts ? { ...document.placement, hosts: without(document.placement.hosts, gone) } : document.placement,
    workload: { ...document.workload, sources: without(document.workload.sources, gone) },
    ui: { ...document.ui, positions: without(document.ui?.positions, gone) },
  };
}

export function addEdge(document: ExperimentDocument, edge: Edge): ExperimentDocument {
  return { ...document, query: { ...document.query, edges: [...document.query.edges, edge] } };
}

export function patchEdge(document: ExperimentDocument, key: string, patch: Partial<Edge>): ExperimentDocument {
  const edges = document.query.edges.map((edge) => (edgeKey(edge) === key ? { ...edge, ...patch } : edge));
  return { ...document, query: { ...document.query, edges } };
}

/** Whether an edge is a feedback edge, and its declared fields; a plain edge has neither. */
export function setFeedback(document: ExperimentDocument, key: string, written: Pick<Edge, "feedback" | "fields">): ExperimentDocument {
  const edges = document.query.edges.map((edge) => {
    if (edgeKey(edge) !== key) return edge;
    const { feedback: _feedback, fields: _fields, ...plain } = edge;
    if (!written.feedback) return plain;
    return { ...plain, feedback: true, ...(written.fields ? { fields: written.fields } : {}) };
  });
  return { ...document, query: { ...document.query, edges } };
}

export function moveOperators(document: ExperimentDocument, moved: { [id: string]: Position }): ExperimentDocument {
  return { ...document, ui: { ...document.ui, positions: { ...document.ui?.positions, ...moved } } };
}

export function replaceHost(document: ExperimentDocument, index: number, host: Host): ExperimentDocument {
  return { ...document, cluster: { ...document.cluster, hosts: document.cluster.hosts.map((old, at) => (at === index ? host : old)) } };
}

/** Removes a host template, and the names it gave from an explicit placement. */
export function removeHost(document: ExperimentDocument, index: number, itsNames: string[]): ExperimentDocument {
  const gone = new Set(itsNames);
  const hosts = document.placement.hosts;
  return {
    ...document,
    cluster: { ...document.cluster, hosts: document.cluster.hosts.filter((_, at) => at !== index) },
    placement: hosts
      ? {
          ...document.placement,
          hosts: Object.fromEntries(Object.entries(hosts).map(([id, names]) => [id, names.filter((name) => !gone.has(name))])),
        }
      : document.placement,
  };
}

/**
 * Puts an operator on hosts. A strategy becomes an explicit map that first repeats what the strategy had chosen
 * (`current`, from validation), so that nothing else moves.
 */
export function placeOn(
  document: ExperimentDocument,
  operatorId: string,
  hostNames: string[],
  current: { [operator: string]: string[] },
): ExperimentDocument {
  const before = document.placement.kind === "explicit" ? (document.placement.hosts ?? {}) : current;
  const fallback = Object.keys(before).length
    ? {}
    : Object.fromEntries(document.query.operators.map((operator) => [operator.id, hostNames]));
  return { ...document, placement: { kind: "explicit", hosts: { ...fallback, ...before, [operatorId]: hostNames } } };
}

/** Some operators as a document of their own: with the edges among them, their workload and their places. */
export function partOf(document: ExperimentDocument, ids: string[]): ExperimentDocument {
  const others = document.query.operators.map((operator) => operator.id).filter((id) => !ids.includes(id));
  const { query, workload, ui } = removeParts(document, others, []);
  return coerceDocument({ format: document.format, name: document.name, query, workload: { sources: workload.sources }, ui });
}

/** Copies of operators and of the edges among them, under free names, shifted by 32 px. Returns the new ids too. */
export function duplicateOperators(
  document: ExperimentDocument,
  ids: string[],
  from: ExperimentDocument = document,
): [ExperimentDocument, string[]] {
  const chosen = from.query.operators.filter((operator) => ids.includes(operator.id));
  const names = new Map<string, string>();
  const taken = new Set(document.query.operators.map((operator) => operator.id));
  for (const operator of chosen) {
    const name = freeName(operator.id.replace(/-\d+$/, ""), taken);
    taken.add(name);
    names.set(operator.id, name);
  }
  const renamed = (id: string) => names.get(id) ?? id;
  let next = document;
  for (const operator of chosen) {
    const at = from.ui?.positions?.[operator.id] ?? { x: 0, y: 0 };
    next = addOperator(
      next,
      { ...structuredClone(operator), id: renamed(operator.id) },
      { x: at.x + 32, y: at.y + 32 },
      from.workload.sources[operator.id] && structuredClone(from.workload.sources[operator.id]),
    );
  }
  for (const edge of from.query.edges) {
    if (names.has(edge.source) && names.has(edge.target)) {
      next = addEdge(next, { ...structuredClone(edge), source: renamed(edge.source), target: renamed(edge.target) });
    }
  }
  return [next, [...names.values()]];
}
