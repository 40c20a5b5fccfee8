import { getBezierPath, Position as Side } from "@xyflow/react";
import { describe, expect, it } from "vitest";
import { wayOf } from "./edgeWay";

describe("the way of an edge", () => {
  it.each([
    [{ x: 176, y: 40 }, { x: 256, y: 40 }],
    [{ x: 176, y: 40 }, { x: 259.5, y: 133.25 }],
    [{ x: 176, y: 300 }, { x: 176, y: 40 }],
    [{ x: 812, y: 40 }, { x: 300, y: 96 }], // back, but in no row below
    [{ x: 812.5, y: 400 }, { x: -12, y: 7 }],
  ])("from %o to %o is the one that the flow draws", (from, to) => {
    const [path, x, y] = getBezierPath({
      sourceX: from.x,
      sourceY: from.y,
      sourcePosition: Side.Right,
      targetX: to.x,
      targetY: to.y,
      targetPosition: Side.Left,
    });
    expect(wayOf(from, to, -1, () => [])).toEqual({ path, x, y });
  });
});
