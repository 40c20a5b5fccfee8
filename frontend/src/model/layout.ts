/** Positions for operators: from the document, or by layers (elk) when asked for or when there are none. */
import type { Kind } from "../api/types";
import { DEFAULT_PORT, edgeKey, type Edge, type ExperimentDocument, type Position } from "./document";

export const NODE = { width: 132, header: 28, port: 20, footer: 25 } as const;

/** Height of an operator's node in px, as its style sheet draws it. */
export function nodeHeight(kind: Kind | undefined): number {
  return NODE.header + NODE.footer + NODE.port * Math.max(1, kind?.inputs.length ?? 1, kind?.outputs.length ?? 1) + 2;
}

/** Distance of columns and rows where the document gives no positions. */
export const PITCH = { x: 192, y: 128 } as const;

/**
 * The document's positions. Operators without one stand in columns by their distance from a source, each at the mean
 * height of those that feed it, and never closer to the one above than a row.
 */
export function positionsOf(document: ExperimentDocument): { [operator: string]: Position } {
  const given = document.ui?.positions ?? {};
  if (document.query.operators.every((operator) => isPosition(given[operator.id]))) return given as { [operator: string]: Position };
  const layers = depths(document);
  const bottom = new Map<number, number>();
  const positions: { [operator: string]: Position } = {};
  const byDepth = [...document.query.operators].sort((a, b) => (layers.get(a.id) ?? 0) - (layers.get(b.id) ?? 0));
  for (const operator of byDepth) {
    const at = given[operator.id];
    const column = layers.get(operator.id) ?? 0;
    const feeding = forwardEdges(document)
      .filter((edge) => edge.target === operator.id)
      .flatMap((edge) => positions[edge.source]?.y ?? []);
    const middle = feeding.length ? Math.round(feeding.reduce((sum, y) => sum + y, 0) / feeding.length / 8) * 8 : 0;
    const place = isPosition(at) ? at : { x: column * PITCH.x, y: Math.max(middle, bottom.get(column) ?? 0) };
    positions[operator.id] = place;
    bottom.set(column, Math.max(bottom.get(column) ?? 0, place.y + PITCH.y));
  }
  return positions;
}

const isPosition = (value: unknown): value is Position =>
  typeof value === "object" && value !== null && Number.isFinite((value as Position).x) && Number.isFinite((value as Position).y);

const forwardEdges = (document: ExperimentDocument) => document.query.edges.filter((edge) => !edge.feedback);

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

/** Layered layout, left to right, ports in order. Loads elk (1.5 MB) only when somebody asks for it. */
export async function autoLayout(document: ExperimentDocument, kinds: Map<string, Kind>): Promise<{ [operator: string]: Position }> {
  const { default: Elk } = await import("elkjs/lib/elk.bundled.js");
  const port = (operator: string, name: string) => `${operator}/${name}`;
  const graph = await new Elk().layout({
    id: "query",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "RIGHT",
      "elk.layered.spacing.nodeNodeBetweenLayers": "64",
      "elk.spacing.nodeNode": "40",
      "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
    },
    children: document.query.operators.map((operator) => {
      const kind = kinds.get(operator.kind);
      const ports = [
        ...(kind?.inputs ?? ["in"]).map((name, index) => ({ name, side: "WEST", index })),
        ...(kind?.outputs ?? ["out"]).map((name, index) => ({ name, side: "EAST", index })),
      ];
      return {
        id: operator.id,
        width: NODE.width,
        height: nodeHeight(kind),
        layoutOptions: { "elk.portConstraints": "FIXED_POS" },
        ports: ports.map(({ name, side, index }) => ({
          id: port(operator.id, `${side}-${name}`),
          x: side === "WEST" ? 0 : NODE.width,
          y: NODE.header + NODE.port * (index + 0.5),
          layoutOptions: { "elk.port.side": side },
        })),
      };
    }),
    edges: forwardEdges(document).map((edge, index) => ({
      id: `edge-${index}`,
      sources: [port(edge.source, `EAST-${edge.source_port ?? DEFAULT_PORT.source}`)],
      targets: [port(edge.target, `WEST-${edge.target_port ?? DEFAULT_PORT.target}`)],
    })),
  });
  const snap = (value: number | undefined) => Math.round((value ?? 0) / 8) * 8;
  return Object.fromEntries((graph.children ?? []).map((node) => [node.id, { x: snap(node.x), y: snap(node.y) }]));
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
export const LANE = { first: 28, step: 24, label: 10, reach: 22, radius: 10 } as const;

/** How many feedback edges run below this one, the wider above; -1 for any other edge. */
export function feedbackLane(document: ExperimentDocument, key: string): number {
  const loops = document.query.edges.filter((edge) => edge.feedback);
  if (!loops.some((edge) => edgeKey(edge) === key)) return -1;
  const positions = positionsOf(document);
  const width = (edge: Edge) => (positions[edge.source]?.x ?? 0) - (positions[edge.target]?.x ?? 0);
  return loops.sort((a, b) => width(a) - width(b)).findIndex((edge) => edgeKey(edge) === key);
}

/**
 * The way of a feedback edge: out to the right, up, back over all operators between its ends, down, and in from the left.
 * boxes: the operators' places. lane: how many feedback edges run below it. Returns the path and the middle of its lane.
 */
export function feedbackPath(from: Position, to: Position, boxes: Position[], lane: number): { path: string; x: number; y: number } {
  const right = Math.max(from.x, to.x - 2 * LANE.reach) + LANE.reach;
  const left = Math.min(to.x, from.x + 2 * LANE.reach) - LANE.reach;
  const below = boxes.filter((box) => box.x < right && box.x + NODE.width > left).map((box) => box.y);
  const y = Math.min(from.y - NODE.header, to.y - NODE.header, ...below) - LANE.first - lane * LANE.step;
  const r = LANE.radius;
  const path = [
    `M${from.x} ${from.y}H${right - r}Q${right} ${from.y} ${right} ${from.y - r}`,
    `V${y + r}Q${right} ${y} ${right - r} ${y}`,
    `H${left + r}Q${left} ${y} ${left} ${y + r}`,
    `V${to.y - r}Q${left} ${to.y} ${left + r} ${to.y}H${to.x}`,
  ].join("");
  return { path, x: (left + right) / 2, y };
}
