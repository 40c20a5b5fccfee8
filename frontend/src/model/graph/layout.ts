/** Where operators, ports and feedback edges stand. Positions are the document's, or columns where it has none. */
import type { Edge, ExperimentDocument, Position } from "../../api/document";
import type { Kind } from "../../api/types";
import { rememberLast } from "../../lib/memo";
import { edgeKey } from "../document/document";

export const NODE = { width: 132, header: 28, port: 20, footer: 25 } as const;

/** Height of an operator's node in px, as its style sheet draws it. */
export function nodeHeight(kind: Pick<Kind, "inputs" | "outputs"> | undefined): number {
  return NODE.header + NODE.footer + NODE.port * Math.max(1, kind?.inputs.length ?? 1, kind?.outputs.length ?? 1) + 2;
}

/** Ports stand on the left and right border: the first one's middle so far below the top, the next a row below. */
export const PORT = { top: 39, size: 9 } as const;

/** The nearest place at or below `at` where a new operator of this kind covers no other. */
export function freePlace(document: ExperimentDocument, kinds: Map<string, Kind>, kind: string, at: Position): Position {
  const positions = positionsOf(document);
  const height = nodeHeight(kinds.get(kind));
  const boxes = document.query.operators.flatMap((operator) => {
    const there = positions[operator.id];
    if (!there || Math.abs(there.x - at.x) >= NODE.width) return [];
    return [{ top: there.y, bottom: there.y + nodeHeight(kinds.get(operator.kind)) }];
  });
  let { y } = at;
  for (const box of boxes.sort((a, b) => a.top - b.top)) {
    if (box.top < y + height && box.bottom > y) y = Math.ceil((box.bottom + 16) / 8) * 8;
  }
  return { x: at.x, y };
}

/** Where an edge leaves an operator's output, or arrives at its input: at the outer rim of the port's drawing. */
export function portAt(at: Position, side: "in" | "out", row: number): Position {
  const reach = PORT.size / 2 - 1;
  return { x: side === "in" ? at.x - reach : at.x + NODE.width + reach, y: at.y + PORT.top + NODE.port * Math.max(0, row) };
}

/** Distance of columns and rows where the document gives no positions. */
export const PITCH = { x: 248, y: 128 } as const;

/**
 * The document's positions. Operators without one stand in columns by their distance from a source, each at the mean
 * height of those that feed it, and never closer to the one above than a row.
 */
export const positionsOf = rememberLast((document: ExperimentDocument): { [operator: string]: Position } => {
  const given = document.ui?.positions ?? {};
  if (document.query.operators.every((operator) => isPosition(given[operator.id]))) return given as { [operator: string]: Position };
  const layers = depths(document);
  const feeders = new Map<string, string[]>();
  for (const edge of forwardEdges(document)) feeders.set(edge.target, [...(feeders.get(edge.target) ?? []), edge.source]);
  const bottom = new Map<number, number>();
  const positions: { [operator: string]: Position } = {};
  const byDepth = [...document.query.operators].sort((a, b) => (layers.get(a.id) ?? 0) - (layers.get(b.id) ?? 0));
  for (const operator of byDepth) {
    const at = given[operator.id];
    const column = layers.get(operator.id) ?? 0;
    const feeding = (feeders.get(operator.id) ?? []).flatMap((source) => positions[source]?.y ?? []);
    const middle = feeding.length ? Math.round(feeding.reduce((sum, y) => sum + y, 0) / feeding.length / 8) * 8 : 0;
    const place = isPosition(at) ? at : { x: column * PITCH.x, y: Math.max(middle, bottom.get(column) ?? 0) };
    positions[operator.id] = place;
    bottom.set(column, Math.max(bottom.get(column) ?? 0, place.y + PITCH.y));
  }
  return positions;
});

/**
 * The positions drawn closer together: a column and a row for each operator. What stands beside or below another by an operator's size
 * or more does so here, by 1 or more; half a row is kept, since an operator between the two that feed it stands so.
 */
export function gridOf(document: ExperimentDocument): { [operator: string]: { column: number; row: number } } {
  const positions = positionsOf(document);
  const at = document.query.operators.map((operator) => positions[operator.id] as Position);
  const column = steps(at.map(({ x }) => x), NODE.width, Infinity);
  const row = steps(at.map(({ y }) => y), nodeHeight(undefined), PITCH.y / 2);
  return Object.fromEntries(
    document.query.operators.map((operator, index) => {
      const { x, y } = at[index] as Position;
      return [operator.id, { column: column.get(x) ?? 0, row: row.get(y) ?? 0 }];
    }),
  );
}

/** For each value how many lie before it, one behind the other at a distance of size; a half step where two are `half` apart. */
function steps(values: number[], size: number, half: number): Map<number, number> {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const found = new Map<number, number>();
  sorted.forEach((value, index) => {
    const before = sorted.findLast((other) => other <= value - size);
    const last = sorted[index - 1];
    const whole = before === undefined ? 0 : (found.get(before) ?? 0) + 1;
    const partly = last === undefined ? 0 : (found.get(last) ?? 0) + Math.min(0.5 * Math.floor((value - last) / half), 1);
    found.set(value, Math.max(whole, partly));
  });
  return found;
}

const isPosition = (value: unknown): value is Position =>
  typeof value === "object" && value !== null && Number.isFinite((value as Position).x) && Number.isFinite((value as Position).y);

export const forwardEdges = (document: ExperimentDocument) => document.query.edges.filter((edge) => !edge.feedback);

/** Longest path from a source, in edges that are no feedback; cycles of others (not allowed, but drawable) end the walk. */
export function depths(document: ExperimentDocument): Map<string, number> {
  const depth = new Map(document.query.operators.map((operator) => [operator.id, 0]));
  for (let round = 0; round < document.query.operators.length; round += 1) {
    let moved = false;
    for (const edge of forwardEdges(document)) {
      const from = depth.get(edge.source);
      const to = depth.get(edge.target);
      if (from !== undefined && to !== undefined && to < from + 1) {
        depth.set(edge.target, from + 1);
        moved = true;
      }
    }
    if (!moved) break;
  }
  return depth;
}

/** Bounds of the query layer, at least as wide as the hardware needs. */
export function queryBounds(document: ExperimentDocument, kinds: Map<string, Kind>, positions = positionsOf(document)) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const operator of document.query.operators) {
    const at = positions[operator.id];
    if (!at) continue;
    left = Math.min(left, at.x);
    top = Math.min(top, at.y);
    right = Math.max(right, at.x + NODE.width);
    bottom = Math.max(bottom, at.y + nodeHeight(kinds.get(operator.kind)));
  }
  if (left === Infinity) return { left: 0, top: 0, right: 688, bottom: 160 };
  const lanes = document.query.edges.filter((edge) => edge.feedback).length;
  return { left, top: lanes ? top - LANE.first - LANE.step * (lanes - 1) - LANE.label : top, right, bottom };
}

/** Feedback edges run back above the operators, each in a lane of its own. Distances in px. */
export const LANE = { first: 28, step: 24, label: 10, reach: 22, apart: 7, radius: 10, width: NODE.width, above: NODE.header } as const;
/** The distances that a feedback edge needs; width of an operator, above: from its port up to its edge. */
export type Lane = { [distance in "first" | "step" | "reach" | "apart" | "radius" | "width" | "above"]: number };

/** How many feedback edges run below this one, the wider above; -1 for any other edge. */
export const feedbackLane = (document: ExperimentDocument, key: string): number => lanesOf(document).get(key) ?? -1;

const lanesOf = rememberLast((document: ExperimentDocument): Map<string, number> => {
  const positions = positionsOf(document);
  const width = (edge: Edge) => (positions[edge.source]?.x ?? 0) - (positions[edge.target]?.x ?? 0);
  const loops = document.query.edges.filter((edge) => edge.feedback).sort((a, b) => width(a) - width(b));
  return new Map(loops.map((edge, lane) => [edgeKey(edge), lane]));
});

/**
 * The way of a feedback edge: out to the right, up, back over all operators between its ends, down, and in from the left.
 * boxes: the operators' places. lane: how many feedback edges run below it; the wider ones also leave and arrive further out, so that
 * edges of one port do not cover each other. Returns the path and the middle of its lane.
 */
export function feedbackPath(
  from: Position,
  to: Position,
  boxes: Position[],
  lane: number,
  drawn: Lane = LANE,
): { path: string; x: number; y: number } {
  const reach = drawn.reach + lane * drawn.apart;
  const right = Math.max(from.x, to.x - 2 * drawn.reach) + reach;
  const left = Math.min(to.x, from.x + 2 * drawn.reach) - reach;
  const below = boxes.filter((box) => box.x < right && box.x + drawn.width > left).map((box) => box.y);
  const y = Math.min(from.y - drawn.above, to.y - drawn.above, ...below) - drawn.first - lane * drawn.step;
  return { path: aroundPath(from, to, left, right, y, drawn.radius), x: (left + right) / 2, y };
}

/** The way of an edge to an operator further left, in the next row: out to the right, back between the rows, in from the left. */
export function wrappedPath(from: Position, to: Position): { path: string; x: number; y: number } {
  const right = from.x + LANE.reach;
  const left = to.x - LANE.reach;
  // Two that run side by side are of different length.
  const apart = Math.min((right - left) / 40, 20) - 10;
  const y = Math.round((from.y + NODE.port + NODE.footer + to.y - NODE.header - NODE.port / 2) / 2 + apart);
  return { path: aroundPath(from, to, left, right, y), x: right - (right - left) / 4, y };
}

/** Out to the right, to the height y, to the left there, and in from the left; with round corners. */
export function aroundPath(from: Position, to: Position, left: number, right: number, y: number, radius: number = LANE.radius): string {
  const corner = (a: number, b: number) => Math.sign(b - a) * Math.min(radius, Math.abs(b - a) / 2);
  const [out, back] = [corner(from.y, y), corner(y, to.y)];
  const r = radius;
  return [
    `M${from.x} ${from.y}H${right - r}Q${right} ${from.y} ${right} ${from.y + out}`,
    `V${y - out}Q${right} ${y} ${right - r} ${y}`,
    `H${left + r}Q${left} ${y} ${left} ${y + back}`,
    `V${to.y - back}Q${left} ${to.y} ${left + r} ${to.y}H${to.x}`,
  ].join("");
}
