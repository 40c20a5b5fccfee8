import { describe, expect, it } from "vitest";
import { smallDocument } from "../document/testing";
import { depths, freePlace, gridOf, positionsOf } from "./layout";

/** persons and auctions feed join, persons through filter; then a sink. */
const placed = (positions: { [operator: string]: [x: number, y: number] }) => ({
  ...smallDocument(),
  ui: { positions: Object.fromEntries(Object.entries(positions).map(([id, [x, y]]) => [id, { x, y }])) },
});

describe("the grid of a query", () => {
  it("keeps columns and rows of the document's positions, and half a row between two", () => {
    expect(gridOf(placed({ persons: [0, 0], auctions: [0, 128], filter: [248, 0], join: [512, 64], sink: [700, 64] }))).toEqual({
      persons: { column: 0, row: 0 },
      auctions: { column: 0, row: 1 },
      filter: { column: 1, row: 0 },
      join: { column: 2, row: 0.5 },
      sink: { column: 3, row: 0.5 },
    });
  });

  it("leaves out empty space and small differences", () => {
    expect(gridOf(placed({ persons: [-40, 0], auctions: [8, 900], filter: [264, 16], join: [0, 980], sink: [2000, 8] }))).toEqual({
      persons: { column: 0, row: 0 },
      auctions: { column: 0, row: 1 },
      filter: { column: 1, row: 0 },
      join: { column: 0, row: 2 },
      sink: { column: 2, row: 0 },
    });
  });

  it("puts no two operators in one place, wherever they stood side by side", () => {
    for (let seed = 1; seed < 200; seed += 1) {
      const spot = (n: number): [number, number] => [((seed * 37 * (n + 1)) % 11) * 61, ((seed * 53 * (n + 2)) % 13) * 29];
      const positions = { persons: spot(0), auctions: spot(1), filter: spot(2), join: spot(3), sink: spot(4) };
      const grid = gridOf(placed(positions));
      for (const [a, at] of Object.entries(positions))
        for (const [b, other] of Object.entries(positions)) {
          if (other[0] - at[0] >= 132) expect((grid[b]?.column ?? 0) - (grid[a]?.column ?? 0)).toBeGreaterThanOrEqual(1);
          if (other[1] - at[1] >= 75) expect((grid[b]?.row ?? 0) - (grid[a]?.row ?? 0)).toBeGreaterThanOrEqual(1);
        }
    }
  });
});

describe("the place of a new operator", () => {
  const document = placed({ persons: [0, 0], auctions: [0, 96], filter: [248, 0], join: [512, 64], sink: [700, 64] });

  it("is where it was dropped, if that covers no other operator", () => {
    expect(freePlace(document, new Map(), "map", { x: 264, y: 200 })).toEqual({ x: 264, y: 200 });
    expect(freePlace(document, new Map(), "map", { x: 136, y: 0 })).toEqual({ x: 136, y: 96 });
  });

  it("is below all that it would cover", () => {
    expect(freePlace(document, new Map(), "map", { x: 8, y: -8 })).toEqual({ x: 8, y: 192 });
  });
});

describe("layout without positions", () => {
  it("puts operators in columns by their distance from a source, without overlap", () => {
    const document = { ...smallDocument(), ui: {} };
    expect(depths(document).get("sink")).toBe(3);
    const positions = positionsOf(document);
    expect(positions.sink?.x).toBeGreaterThan(positions.join?.x ?? 0);
    expect(positions.auctions?.y).not.toBe(positions.persons?.y);
  });

  it("keeps the positions that are given", () => {
    expect(positionsOf(smallDocument()).persons).toEqual({ x: 0, y: 0 });
  });
});
