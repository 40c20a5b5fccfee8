import { describe, expect, it } from "vitest";
import { addStops, shareStopped, type Stop } from "./stops";

describe("stops", () => {
  it("joins what two frames tell of one stop", () => {
    const stops: Stop[] = [];
    addStops(stops, [
      [0.2, 0.3],
      [0.9, 1],
    ]);
    addStops(stops, [[1, 1.25]]);
    addStops(stops, []);
    addStops(stops, [[2.5, 3]]);
    expect(stops).toEqual([
      { from_s: 0.2, to_s: 0.3 },
      { from_s: 0.9, to_s: 1.25 },
      { from_s: 2.5, to_s: 3 },
    ]);
  });

  it("says which share of a stretch they take", () => {
    const stops = [
      { from_s: 1, to_s: 2 },
      { from_s: 3, to_s: 5 },
    ];
    expect(shareStopped(stops, { from_s: 0, to_s: 4 })).toBe(0.5);
    expect(shareStopped(stops, { from_s: 2, to_s: 3 })).toBe(0);
    expect(shareStopped(stops, { from_s: 2, to_s: 2 })).toBe(0);
  });
});
