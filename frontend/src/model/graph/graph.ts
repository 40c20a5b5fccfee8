/** Rules of drawing: what may be connected, and how an edge is best partitioned at first. */
import type { Edge, ExperimentDocument } from "../../api/document";
import type { Json, Kind, RecordSchema, Tagged } from "../../api/types";
import type { Write } from "../document/writes";
import { DEFAULT_PORT, edgeKey, instancesOf, operatorOf } from "../document/document";
import { addEdge, patchOperator, removeParts } from "../document/edits";
import { lookupOf } from "../document/lookup";

export interface PortRef {
  operator: string;
  port: string;
  side: "in" | "out";
}

/** Every operator that records of `from` reach, itself included. forward: not over feedback edges. */
export function downstream(document: ExperimentDocument, from: Iterable<string>, forward = false): Set<string> {
  return reached(
    document.query.edges.filter((edge) => !(forward && edge.feedback)).map((edge) => [edge.source, edge.target]),
    from,
  );
}

/** Every operator whose records reach `to`, itself included. */
export function upstream(document: ExperimentDocument, to: Iterable<string>): Set<string> {
  return reached(
    document.query.edges.map((edge) => [edge.target, edge.source]),
    to,
  );
}

function reached(steps: [from: string, to: string][], start: Iterable<string>): Set<string> {
  const next = new Map<string, string[]>();
  for (const [from, to] of steps) {
    const known = next.get(from);
    if (known) known.push(to);
    else next.set(from, [to]);
  }
  const seen = new Set(start);
  for (const id of seen) for (const to of next.get(id) ?? []) seen.add(to); // the walk goes on over what it adds
  return seen;
}

/**
 * Removes operators and connects what fed them to what they fed, through the removed ones as the records went. The new edges are
 * partitioned as the receivers had it, where that can be; one that is there already is not made twice.
 */
export function removeAndReconnect(document: ExperimentDocument, ids: Iterable<string>): ExperimentDocument {
  const gone = new Set(ids);
  const inside = document.query.edges.filter((edge) => gone.has(edge.source) && gone.has(edge.target));
  const within: [string, string][] = inside.map((edge) => [edge.source, edge.target]);
  const into = document.query.edges.filter((edge) => !gone.has(edge.source) && gone.has(edge.target));
  const outOf = document.query.edges.filter((edge) => gone.has(edge.source) && !gone.has(edge.target));
  let next = removeParts(document, gone, []);
  const have = new Set(next.query.edges.map(edgeKey));
  for (const before of into) {
    const reachable = reached(within, [before.target]);
    for (const after of outOf.filter((edge) => reachable.has(edge.source))) {
      const from: PortRef = { operator: before.source, port: before.source_port ?? DEFAULT_PORT.source, side: "out" };
      const to: PortRef = { operator: after.target, port: after.target_port ?? DEFAULT_PORT.target, side: "in" };
      // Forward says that two operators have equally many instances, which another pair may not.
      const edge = makeEdge(from, to, after.partitioning.kind === "forward" ? firstPartitioning(document, from, to) : after.partitioning);
      if (have.has(edgeKey(edge))) continue;
      have.add(edgeKey(edge));
      next = addEdge(next, closesCycle(next, from.operator, to.operator) ? { ...edge, feedback: true } : edge);
    }
  }
  return next;
}

/**
 * Why these two ports cannot be connected, or null when they can. One sentence, with what would be right. schemas: of the records at
 * each port, as far as they are known.
 */
export function connectionRefusal(
  document: ExperimentDocument,
  kinds: Map<string, Kind>,
  schemas: Record<string, RecordSchema>,
  from: PortRef,
  to: PortRef,
): string | null {
  if (from.side === to.side) {
    return from.side === "out"
      ? `Both ends are outputs. Connect ${from.operator} to an input, on the left side of an operator.`
      : `Both ends are inputs. Start at an output, on the right side of an operator.`;
  }
  const [source, target] = from.side === "out" ? [from, to] : [to, from];
  for (const end of [source, target]) {
    const operator = operatorOf(document, end.operator);
    const kind = operator && kinds.get(operator.kind);
    const ports = end === source ? kind?.outputs : kind?.inputs;
    if (ports && !ports.includes(end.port))
      return `${end.operator} has no ${end.side}put '${end.port}'. It has ${ports.join(", ") || "none"}.`;
  }
  const key = edgeKey(makeEdge(source, target, { kind: "forward" }));
  if (document.query.edges.some((edge) => edgeKey(edge) === key))
    return `${source.operator} already feeds this input of ${target.operator}.`;
  const closes = closesCycle(document, source.operator, target.operator);
  const other = closes ? null : otherRecords(document, schemas, source, target);
  if (other) return other;
  if (closes) {
    const next = addEdge(document, newEdge(document, source, target));
    const sources = document.query.operators.filter((one) => !(kinds.get(one.kind)?.inputs.length ?? 0)).map((one) => one.id);
    if (downstream(next, sources).has(target.operator) && !downstream(next, sources, true).has(target.operator)) {
      return `This would close a cycle in which only feedback edges lead to ${target.operator}, so it would never see a watermark. First make the edge that leads back from ${target.operator} the feedback edge.`;
    }
  }
  return null;
}

/** All edges into one port must bring the same fields: what it gets already, and what this edge would bring instead. */
function otherRecords(
  document: ExperimentDocument,
  schemas: Record<string, RecordSchema>,
  source: PortRef,
  target: PortRef,
): string | null {
  const brings = schemas[`${source.operator}.${source.port}`];
  if (!brings) return null;
  for (const edge of document.query.edges) {
    if (edge.feedback || edge.target !== target.operator || (edge.target_port ?? DEFAULT_PORT.target) !== target.port) continue;
    const gets = schemas[`${edge.source}.${edge.source_port ?? DEFAULT_PORT.source}`];
    if (gets && JSON.stringify(gets.fields) !== JSON.stringify(brings.fields))
      return (
        `This input of ${target.operator} gets ${named(gets)} from ${edge.source}; ${source.operator} would send ${named(brings)}. ` +
        "All edges into one input must carry the same fields."
      );
  }
  return null;
}

const NAMED_MAX = 5;

/** The first names of the fields. */
function named({ fields }: RecordSchema): string {
  const names = fields.slice(0, NAMED_MAX).map((field) => field.name);
  return `(${names.join(", ")}${fields.length > NAMED_MAX ? ", …" : ""})`;
}

/** Whether an edge between these operators closes a cycle that has no feedback edge yet. */
export const closesCycle = (document: ExperimentDocument, source: string, target: string) =>
  downstream(document, [target], true).has(source);

/** What is worth knowing of a connection before it is made: that it is a feedback edge, and whether its records fit the port. */
export function connectionNote(
  document: ExperimentDocument,
  schemas: Record<string, RecordSchema>,
  from: PortRef,
  to: PortRef,
): { message: string; fits: boolean } | null {
  const [source, target] = from.side === "out" ? [from, to] : [to, from];
  if (!closesCycle(document, source.operator, target.operator)) return null;
  const brings = schemas[`${source.operator}.${source.port}`];
  const takes = schemas[`${target.operator}.${target.port}`];
  const listed = (schema: RecordSchema) => schema.fields.map((field) => field.name).join(", ");
  if (brings && takes && JSON.stringify(brings.fields) !== JSON.stringify(takes.fields)) {
    return {
      message: `Feedback edge: ${target.operator} expects ${listed(takes)} here, but ${source.operator} sends ${listed(brings)}. The two must match.`,
      fits: false,
    };
  }
  return { message: `Feedback edge: it closes a cycle, and carries records back to ${target.operator} but no watermarks.`, fits: true };
}

/** A new edge: partitioned as its ends suggest, and a feedback edge if it closes a cycle. */
export function newEdge(document: ExperimentDocument, source: PortRef, target: PortRef): Edge {
  const edge = makeEdge(source, target, firstPartitioning(document, source, target));
  return closesCycle(document, source.operator, target.operator) ? { ...edge, feedback: true } : edge;
}

export function makeEdge(source: PortRef, target: PortRef, partitioning: Tagged): Edge {
  const edge: Edge = { source: source.operator, target: target.operator, partitioning };
  if (source.port !== DEFAULT_PORT.source) edge.source_port = source.port;
  if (target.port !== DEFAULT_PORT.target) edge.target_port = target.port;
  return edge;
}

/** Where a keyed operator keeps the key of an input port: `left_key` for port left, `key` for port in. */
function keyOf(params: { [field: string]: unknown } | undefined, port: string): string | null {
  const value = params?.[`${port}_key`] ?? params?.key;
  return typeof value === "string" && value ? value : null;
}

/**
 * The document with an operator's new params; edges into its keyed ports follow their keys: those that were partitioned by the old key,
 * and those that were drawn before there was one. A single instance needs no hash.
 */
export function withParams(document: ExperimentDocument, id: string, write: Write<{ [field: string]: Json }>): ExperimentDocument {
  const operator = operatorOf(document, id);
  if (!operator) return document;
  const params = write(operator.params);
  const isSpread = instancesOf(operator) > 1;
  const edges = document.query.edges.map((edge) => {
    if (edge.target !== id) return edge;
    const port = edge.target_port ?? DEFAULT_PORT.target;
    const [was, key] = [keyOf(operator.params, port), keyOf(params, port)];
    const { kind, key: by } = edge.partitioning;
    const follows = was === null ? isSpread && (kind === "forward" || kind === "rebalance") : kind === "hash" && by === was;
    return key !== null && key !== was && follows ? { ...edge, partitioning: { ...(was === null ? {} : edge.partitioning), kind: "hash", key } } : edge;
  });
  const next = patchOperator(document, id, { params });
  return { ...next, query: { ...next.query, edges } };
}

/** A new edge's partitioning: hash by the receiver's key if it has one, forward at equal parallelism, else rebalance. */
export function firstPartitioning(document: ExperimentDocument, source: PortRef, target: PortRef): Tagged {
  const from = operatorOf(document, source.operator);
  const to = operatorOf(document, target.operator);
  const key = keyOf(to?.params, target.port);
  if (key) return { kind: "hash", key };
  return instancesOf(from) === instancesOf(to) ? { kind: "forward" } : { kind: "rebalance" };
}

export function partitioningLabel(partitioning: Tagged | undefined): string {
  if (!partitioning) return "";
  return typeof partitioning.key === "string" && partitioning.key ? `${partitioning.kind}(${partitioning.key})` : partitioning.kind;
}

export interface RecordType {
  name: string;
  /** Index of the port's shape: circle, square, diamond, arch, in order of appearance. */
  shape: number;
  schema: RecordSchema;
}

/**
 * Names for the record schemas that flow on output ports. Equal fields are one type; a source names it by its stream,
 * any other operator by its own id. Keys are "<operator>.<port>", as in the server's answer.
 */
export function recordTypes(
  document: ExperimentDocument,
  schemas: Record<string, RecordSchema>,
  streamTitles: Map<string, string>,
): Map<string, RecordType> {
  const bySignature = new Map<string, RecordType>();
  const types = new Map<string, RecordType>();
  const keys = new Map<string, string[]>();
  const inputs = new Set(document.query.edges.map((edge) => `${edge.target}.${edge.target_port ?? DEFAULT_PORT.target}`));
  for (const key of Object.keys(schemas)) {
    if (inputs.has(key)) continue; // what arrives has its name where it comes from
    const id = key.slice(0, key.lastIndexOf("."));
    keys.set(id, [...(keys.get(id) ?? []), key]);
  }
  for (const operator of document.query.operators) {
    for (const key of keys.get(operator.id) ?? []) {
      const schema = schemas[key] as RecordSchema;
      const signature = JSON.stringify(schema.fields);
      let type = bySignature.get(signature);
      if (!type) {
        const stream = document.workload.sources[operator.id]?.stream;
        const name = stream && (typeof stream.dataset === "string" ? stream.dataset : streamTitles.get(stream.kind));
        type = { name: recordName(name || operator.id), shape: bySignature.size, schema };
        bySignature.set(signature, type);
      }
      types.set(key, type);
    }
  }
  return types;
}

/** "NexMark persons" flow as records of the type Person. */
const recordName = (stream: string) =>
  stream
    .replace(/^NexMark\s+/i, "")
    .replace(/([^s])s$/, "$1")
    .replace(/^./, (letter) => letter.toUpperCase());

/** An operator's ports: those of its kind, or, of a kind that is not known here, those that its edges use. */
export function portsOf(document: ExperimentDocument, kind: Kind | undefined, operator: string): { inputs: string[]; outputs: string[] } {
  if (kind) return kind;
  const used = (list: string[]) => [...new Set(list)].sort();
  return {
    inputs: used(document.query.edges.flatMap((edge) => (edge.target === operator ? (edge.target_port ?? DEFAULT_PORT.target) : []))),
    outputs: used(document.query.edges.flatMap((edge) => (edge.source === operator ? (edge.source_port ?? DEFAULT_PORT.source) : []))),
  };
}

/** What arrives at an input port: the type of the first edge into it. */
export function inputType(
  document: ExperimentDocument,
  types: Map<string, RecordType>,
  operator: string,
  port: string,
): RecordType | undefined {
  const edge = lookupOf(document).into.get(`${operator}.${port}`);
  return edge && types.get(`${edge.source}.${edge.source_port ?? DEFAULT_PORT.source}`);
}
