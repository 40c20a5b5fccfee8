/** The way of an edge between two ports, and where its label stands. */
import type { Edge, ExperimentDocument, Position } from "../../api/document";
import type { Kind } from "../../api/types";
import { DEFAULT_PORT, edgeKey } from "../document/document";
import { lookupOf } from "../document/lookup";
import { feedbackLane, feedbackPath, portAt, wrappedPath } from "./layout";

/** An operator that begins so much lower than another stands in a row below it, px. */
const ROW = 72;
/** How far an edge that leads back swings out at its ends: px for each root of a px that it leads back. */
const SWING = 6.25;

export interface Way {
  path: string;
  x: number;
  y: number;
}

/** To the right, to the next row, or, in a lane above the operators (`boxes`), back. */
export function wayOf(from: Position, to: Position, lane: number, boxes: () => Position[]): Way {
  if (lane >= 0) return feedbackPath(from, to, boxes(), lane);
  if (to.x < from.x && to.y > from.y + ROW) return wrappedPath(from, to);
  return curveOf(from, to);
}

/** A Bézier curve that leaves to the right and comes from the left: the same one that the flow draws for a connection in the making. */
function curveOf(from: Position, to: Position): Way {
  const right = to.x - from.x;
  const reach = right >= 0 ? 0.5 * right : SWING * Math.sqrt(-right);
  const [leaves, comes] = [from.x + reach, to.x - reach];
  return {
    path: `M${from.x},${from.y} C${leaves},${from.y} ${comes},${to.y} ${to.x},${to.y}`,
    x: from.x * 0.125 + leaves * 0.375 + comes * 0.375 + to.x * 0.125,
    y: from.y * 0.125 + from.y * 0.375 + to.y * 0.375 + to.y * 0.125,
  };
}

/** The way of every edge, over operators that stand at `positions`. */
export function waysOf(
  document: ExperimentDocument,
  kinds: Map<string, Kind>,
  positions: { [operator: string]: Position },
): { edge: Edge; way: Way; lane: number }[] {
  const { operators } = lookupOf(document);
  const boxes = () => Object.values(positions);
  const portOf = (id: string, side: "in" | "out", name: string) => {
    const at = positions[id];
    const kind = kinds.get(operators.get(id)?.kind ?? "");
    return at && portAt(at, side, (side === "in" ? kind?.inputs : kind?.outputs)?.indexOf(name) ?? 0);
  };
  return document.query.edges.flatMap((edge) => {
    const from = portOf(edge.source, "out", edge.source_port ?? DEFAULT_PORT.source);
    const to = portOf(edge.target, "in", edge.target_port ?? DEFAULT_PORT.target);
    const lane = edge.feedback ? feedbackLane(document, edgeKey(edge)) : -1;
    return from && to ? [{ edge, way: wayOf(from, to, lane, boxes), lane }] : [];
  });
}
