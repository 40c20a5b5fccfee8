/** Every edit of a document as a pure function: document in, document out. */
import type { Edge, ExperimentDocument, Operator, Position, SourceWorkload } from "../../api/document";
import { coerceDocument } from "./coerce";
import { edgeKey, freeName } from "./document";
import { queriesOf, withoutOperators, withQueries } from "./queries";
import type { Write } from "./writes";

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

/** Renames an operator everywhere: edges, queries, workload, explicit placement, positions. */
export function renameOperator(document: ExperimentDocument, from: string, to: string): ExperimentDocument {
  const rename = (id: string) => (id === from ? to : id);
  const rekey = <T>(map: { [id: string]: T } | undefined) =>
    Object.fromEntries(Object.entries(map ?? {}).map(([id, value]) => [rename(id), value]));
  const named = withQueries(document, queriesOf(document).map((query) => ({ ...query, operators: query.operators.map(rename) })));
  return {
    ...document,
    query: {
      ...named.query,
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
  const { query } = withQueries(document, withoutOperators(queriesOf(document), gone));
  return {
    ...document,
    query: {
      ...query,
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

export type EdgeSettings = Pick<Edge, "feedback" | "fields" | "capacity">;

/** The capacity of an edge, whether it is a feedback edge, and its declared fields, which a plain edge does not have. */
export function setEdge(document: ExperimentDocument, key: string, write: Write<EdgeSettings>): ExperimentDocument {
  const edges = document.query.edges.map((edge) => {
    if (edgeKey(edge) !== key) return edge;
    const { feedback, fields, capacity, ...rest } = edge;
    const written = write({ ...(feedback ? { feedback } : {}), ...(fields ? { fields } : {}), ...(capacity == null ? {} : { capacity }) });
    const plain = { ...rest, ...(written.capacity == null ? {} : { capacity: written.capacity }) };
    if (!written.feedback) return plain;
    return { ...plain, feedback: true, ...(written.fields ? { fields: written.fields } : {}) };
  });
  return { ...document, query: { ...document.query, edges } };
}

export function moveOperators(document: ExperimentDocument, moved: { [id: string]: Position }): ExperimentDocument {
  return { ...document, ui: { ...document.ui, positions: { ...document.ui?.positions, ...moved } } };
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

/** Puts every operator on one host, whatever placed it before. */
export const placeEach = (document: ExperimentDocument, hosts: { [operator: string]: string }): ExperimentDocument => ({
  ...document,
  placement: { kind: "explicit", hosts: Object.fromEntries(Object.entries(hosts).map(([id, host]) => [id, [host]])) },
});

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
