/** Similarity joins (S3J): four operators that are drawn together, and whose parameters have to agree. */
import type { Edge, ExperimentDocument, Operator, Position } from "../../api/document";
import type { Json, RecordField } from "../../api/types";
import { freeName, operatorOf } from "../document/document";
import { PITCH } from "./layout";

type Params = { [field: string]: Json };
type Side = "left" | "right";

export const SIDES: readonly Side[] = ["left", "right"];
const PARTITIONERS = ["space_partitioner", "cluster_partitioner"];
const JOINS = ["workset_formulation", "similarity_join", "cluster_join"];
const SELF_JOINS = ["self_workset_formulation", "self_similarity_join"];
/** Kinds that find pairs. */
const MATCHING = ["similarity_join", "self_similarity_join", "cluster_join", "brute_force_join"];
const OF_JOINS = ["window", "lateness_ms"];
const OF_PARTITIONERS = ["seed", "spaces", "keys", "workers"];
const THRESHOLD = 0.01;

const isStage = (operator: Operator | undefined) => [...PARTITIONERS, ...JOINS, ...SELF_JOINS].includes(operator?.kind ?? "");

/** The stages of the similarity join that an operator belongs to, itself included; none for any other operator. */
export function stagesWith(document: ExperimentDocument, id: string): string[] {
  if (!isStage(operatorOf(document, id))) return [];
  const found = new Set([id]);
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const { source, target } of document.query.edges) {
      if (!isStage(operatorOf(document, source)) || !isStage(operatorOf(document, target))) continue;
      if (found.has(source)) found.add(target);
      if (found.has(target)) found.add(source);
    }
  }
  return document.query.operators.map((operator) => operator.id).filter((one) => found.has(one));
}

/** The join that an operator is a stage of, itself included; null for any other operator. */
export function joinOf(document: ExperimentDocument, id: string): string | null {
  const isJoin = (one: string) => MATCHING.includes(operatorOf(document, one)?.kind ?? "");
  return [id, ...stagesWith(document, id)].find(isJoin) ?? null;
}

/** The side of a join for which a partitioner works. */
const sideOf = (document: ExperimentDocument, id: string): Side =>
  document.query.edges.some((edge) => edge.source === id && edge.target_port === "right") ? "right" : "left";

/** What a parameter of one stage is called in another; null if that has none of the kind. */
function nameIn(document: ExperimentDocument, from: Operator, name: string, to: Operator): string | null {
  const [fromPartitioner, toPartitioner] = [PARTITIONERS.includes(from.kind), PARTITIONERS.includes(to.kind)];
  if (name === "distance" || name === "threshold") return name;
  if (OF_JOINS.includes(name)) return toPartitioner ? null : name;
  if (OF_PARTITIONERS.includes(name)) return toPartitioner && fromPartitioner ? name : null;
  const ofOneInput = name === "coordinates" ? sideOf(document, from.id) : null;
  const side = JOINS.includes(from.kind) ? SIDES.find((one) => name === `${one}_coordinates`) : ofOneInput;
  if (!side) return null;
  if (SELF_JOINS.includes(to.kind)) return "coordinates";
  if (!toPartitioner) return `${side}_coordinates`;
  return sideOf(document, to.id) === side ? "coordinates" : null;
}

/** The document with what a parameter of one stage became in all stages of its join, which have to agree. */
export function inStep(before: ExperimentDocument, after: ExperimentDocument, id: string): ExperimentDocument {
  const [was, is] = [operatorOf(before, id), operatorOf(after, id)];
  const stages = stagesWith(after, id);
  if (!was || !is || stages.length < 2) return after;
  const differs = ([name, value]: [string, Json]) => JSON.stringify((was.params as Params)[name]) !== JSON.stringify(value);
  const changed = Object.entries(is.params as Params).filter(differs);
  const operators = after.query.operators.map((operator) => {
    if (operator.id === id || !stages.includes(operator.id)) return operator;
    const own = changed.flatMap(([name, value]): [string, Json][] => {
      const there = nameIn(after, is, name, operator);
      return there === null ? [] : [[there, value]];
    });
    return own.length ? { ...operator, params: { ...(operator.params as Params), ...Object.fromEntries(own) } } : operator;
  });
  return { ...after, query: { ...after.query, operators } };
}

/** The fields of a record that look like one vector: a field that is one, else numbered floats of the most frequent name, else all. */
export function vectorFields(fields: readonly RecordField[]): string[] {
  const whole = fields.find(({ type }) => type === "vector");
  if (whole) return [whole.name];
  const floats = fields.filter(({ type }) => type === "float").map(({ name }) => name);
  const byName = new Map<string, string[]>();
  for (const name of floats) {
    const stem = /^(.*?)_?\d+$/.exec(name)?.[1];
    if (stem !== undefined) byName.set(stem, [...(byName.get(stem) ?? []), name]);
  }
  const longest = [...byName.values()].sort((a, b) => b.length - a.length)[0];
  return longest && longest.length > 1 ? longest : floats;
}

/** Sources whose records go nowhere yet, in the order in which they were drawn. */
const looseSources = (document: ExperimentDocument): string[] =>
  document.query.operators
    .filter(({ id }) => document.workload.sources[id] && !document.query.edges.some(({ source }) => source === id))
    .map(({ id }) => id);

/**
 * Adds the stages of a similarity join of two streams, or of one with itself, at a place: a partitioner for each, workset formulation and
 * the join, with their edges. Sources that feed nothing become its inputs, if there are as many. Returns the new operators' names, too.
 *
 * @param schemas of the sources' records, by operator and port.
 */
export function addSimilarityJoin(
  document: ExperimentDocument,
  at: Position,
  workers: number,
  schemas: Record<string, { fields: RecordField[] }>,
  streams: 1 | 2 = 2,
): [ExperimentDocument, string[]] {
  const taken = document.query.operators.map(({ id }) => id);
  const name = (base: string) => {
    const free = freeName(base, taken);
    taken.push(free);
    return free;
  };
  const loose = looseSources(document);
  const sources = loose.length === streams ? loose : [];
  const sides = SIDES.slice(0, streams);
  const self = streams === 1;
  const prefix = self ? "self_" : "";
  const vectors = sides.map((_, n) => vectorFields(schemas[`${sources[n]}.out`]?.fields ?? []));
  const metric = { distance: "angular", threshold: THRESHOLD };
  const [left = [], right = []] = vectors;
  const coordinates: Params = self ? { coordinates: left } : { left_coordinates: left, right_coordinates: right };
  const both: Params = { ...coordinates, ...metric, window: { kind: "tumbling", size_s: 10 } };
  const spaces = sides.map((side) => name(self ? "spaces" : `${side}-spaces`));
  const [worksets, join] = [name("worksets"), name("join")];
  const operators: [Operator, number, number][] = [
    ...spaces.map((id, n): [Operator, number, number] => [
      { id, kind: "space_partitioner", parallelism: workers, params: { coordinates: vectors[n] ?? [], ...metric, spaces: workers } },
      0,
      n,
    ]),
    [{ id: worksets, kind: `${prefix}workset_formulation`, parallelism: workers, params: { ...both, workers } }, 1, 0],
    [{ id: join, kind: `${prefix}similarity_join`, parallelism: workers, params: both }, 2, 0],
  ];
  const by = (key: string) => ({ kind: "hash", key, scheme: "modulo" });
  const edges: Edge[] = sides.flatMap((side, n): Edge[] => {
    const partitioner = spaces[n] ?? "";
    const source = sources[n];
    const into = self ? {} : { target_port: side };
    const from = self ? {} : { source_port: `out_${side}` };
    return [
      ...(source ? [{ source, target: partitioner, partitioning: { kind: "rebalance" } }] : []),
      { source: partitioner, target: worksets, ...into, partitioning: by("space") },
      { source: worksets, ...from, target: join, ...into, partitioning: by("worker") },
    ];
  });
  const positions = Object.fromEntries(
    operators.map(([{ id }, column, row]) => [id, { x: at.x + column * PITCH.x, y: at.y + row * PITCH.y }]),
  );
  const next = {
    ...document,
    query: {
      ...document.query,
      operators: [...document.query.operators, ...operators.map(([operator]) => operator)],
      edges: [...document.query.edges, ...edges],
    },
    ui: { ...document.ui, positions: { ...document.ui?.positions, ...positions } },
  };
  return [next, operators.map(([{ id }]) => id)];
}
