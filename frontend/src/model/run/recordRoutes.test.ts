import { describe, expect, it } from "vitest";
import { reasonOf, routeOf } from "./recordRoutes";
import type { SpacePicture } from "./spaces";

const T = 0.02;
const vector = (turn: number): [number, number] => [Math.cos(Math.PI * turn), Math.sin(Math.PI * turn)];

/** Spaces at these directions, and worksets as [space, number, direction]. */
const picture = (centroids: number[], worksets: [number, number, number][]): SpacePicture => ({
  centroids: centroids.map(vector),
  worksets: worksets.map(([space, number, turn]) => {
    const [x, y] = vector(turn);
    return { space, number, worker: space, x, y, compared: 0, records: 0 };
  }),
  workers: [],
  dimensions: 2,
  compared: 0,
  stored: [],
  stored_at_s: 0,
});

const roles = (of: SpacePicture, turn: number) =>
  routeOf(of, turn, T).spaces.map(({ space, stops }) => [space, stops.map(({ workset, role }) => `${workset?.number ?? "new"} ${role}`)]);

describe("where a record goes", () => {
  it("is inner, an outlier, or a centroid by its distance to the nearest workset", () => {
    const of = picture([0, 1], [[0, 1, 0.1]]);
    expect(roles(of, 0.105)).toEqual([[0, ["1 inner"]]]);
    expect(roles(of, 0.115)).toEqual([[0, ["1 outlier"]]]);
    expect(roles(of, 0.125)).toEqual([[0, ["new centroid", "1 outer"]]]);
    expect(roles(of, 0.3)).toEqual([[0, ["new centroid"]]]);
  });

  it("is copied to older worksets within twice the threshold, and to no younger one", () => {
    const of = picture([0, 1], [[0, 1, 0.1], [0, 2, 0.13], [0, 3, 0.16]]);
    expect(roles(of, 0.132)).toEqual([[0, ["2 inner", "1 outer"]]]);
    expect(roles(of, 0.158)).toEqual([[0, ["3 inner", "2 outer"]]]);
    expect(roles(of, 0.1)).toEqual([[0, ["1 inner"]]]);
  });

  it("is copied to one of two neighbouring spaces, by the parity of their numbers", () => {
    const of = picture([0, 0.5, -0.5], [[0, 1, 0.24], [1, 1, 0.26]]);
    const [low, high] = [routeOf(of, 0.245, T), routeOf(of, 0.255, T)];
    const copied = [low, high].map(({ spaces }) => spaces.map(({ space }) => space));
    expect(copied.filter((spaces) => spaces.length === 2)).toHaveLength(1);
    expect([low.spared, high.spared].filter((spared) => spared.length === 1)).toHaveLength(1);
    const both = [low, high].find(({ spaces }) => spaces.length === 2);
    expect(both?.spaces[1]?.stops).toMatchObject([{ role: "outer" }]);
    const [home, copy] = both?.spaces ?? [];
    expect(copy && reasonOf(copy, T, home?.distance ?? 0)).toBe("its centroid is 0.0100 farther, at most 0.04");
  });

  it("measures across the half turn", () => {
    expect(roles(picture([0.99], [[0, 1, 0.995]]), -0.998)).toEqual([[0, ["1 inner"]]]);
  });
});
