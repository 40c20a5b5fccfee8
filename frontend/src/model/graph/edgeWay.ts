/** The way of an edge between two ports, and where its label stands. */
import { getBezierPath, Position as Side } from "@xyflow/react";
import type { Position } from "../document/document";
import { feedbackPath, wrappedPath } from "./layout";

/** An operator that begins so much lower than another stands in a row below it, px. */
const ROW = 72;

export interface Way {
  path: string;
  x: number;
  y: number;
}

/** To the right, to the next row, or, in a lane above the operators (`boxes`), back. */
export function wayOf(from: Position, to: Position, lane: number, boxes: () => Position[]): Way {
  if (lane >= 0) return feedbackPath(from, to, boxes(), lane);
  if (to.x < from.x && to.y > from.y + ROW) return wrappedPath(from, to);
  const [path, x, y] = getBezierPath({
    sourceX: from.x,
    sourceY: from.y,
    sourcePosition: Side.Right,
    targetX: to.x,
    targetY: to.y,
    targetPosition: Side.Left,
  });
  return { path, x, y };
}
