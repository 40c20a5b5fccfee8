import { describe, expect, it } from "vitest";
import { wayOf } from "./edgeWay";
import { aroundPath } from "./layout";
import { nearestOutline, outlineOf } from "./pathHit";

describe("what lies at a point", () => {
  const forward = outlineOf(wayOf({ x: 0, y: 0 }, { x: 100, y: 60 }, -1, () => []).path);
  const lower = outlineOf(wayOf({ x: 0, y: 40 }, { x: 100, y: 100 }, -1, () => []).path);
  const back = outlineOf(aroundPath({ x: 300, y: 50 }, { x: 200, y: 50 }, 180, 320, 0));

  it("is the nearest of the edges within reach", () => {
    expect(nearestOutline([forward, lower, back], { x: 50, y: 32 }, 8)).toBe(0);
    expect(nearestOutline([forward, lower, back], { x: 50, y: 66 }, 8)).toBe(1);
    expect(nearestOutline([forward, lower, back], { x: 250, y: 4 }, 8)).toBe(2);
    expect(nearestOutline([forward, lower, back], { x: 318, y: 25 }, 8)).toBe(2);
  });

  it("is nothing beside all edges, also inside of what one goes around", () => {
    expect(nearestOutline([forward, lower, back], { x: 50, y: 49 }, 8)).toBe(-1);
    expect(nearestOutline([back], { x: 250, y: 30 }, 8)).toBe(-1);
    expect(nearestOutline([], { x: 0, y: 0 }, 8)).toBe(-1);
  });

  it("reaches from one end to the other", () => {
    for (const outline of [forward, lower, back]) {
      const [first, last] = [outline.points.slice(0, 2), outline.points.slice(-2)];
      for (const [x = 0, y = 0] of [first, last]) expect(nearestOutline([outline], { x, y }, 0.1)).toBe(0);
    }
    expect(back.points.slice(0, 2)).toEqual([300, 50]);
    expect(back.points.slice(-2)).toEqual([200, 50]);
  });
});
