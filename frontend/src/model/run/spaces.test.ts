import { describe, expect, it } from "vitest";
import type { BalancingAction } from "../../api/types";
import { coerceDocument } from "../document/coerce";
import { arcsOf, isCircle, pictureAt, selectivityOf, similarityJoins, SpaceHistory, stagesOf, turnOf } from "./spaces";

const history = () => {
  const made = new SpaceHistory();
  made.add({ join: { centroids: [[1, 0], [0, 1], [-1, 0]], worksets: [[0, 1, 0, 1, 0.1], [1, 1, 1, 0, 1]] } }, 1);
  made.add({ join: { worksets: [[2, 1, 2, -1, 0]], loads: [[0, 1, 30, 8], [1, 1, 10, 4]] } }, 2);
  made.add({ join: { worksets: [], loads: [[0, 1, 50, 9], [2, 1, 50, 6]] } }, 3);
  return made;
};

const moved = { join: "join", from_s: 2.5, moves: [[0, 1, 0, 2, 30, 0, 20]] } as unknown as BalancingAction;

describe("spaces of a similarity join", () => {
  it("shows what was known at a moment", () => {
    const early = pictureAt(history(), [], "join", 1.5);
    expect(early?.worksets.map(({ space, compared }) => [space, compared])).toEqual([[0, 0], [1, 0]]);
    const later = pictureAt(history(), [], "join", 2.2);
    expect(later?.worksets.map(({ compared, records }) => [compared, records])).toEqual([[30, 8], [10, 4], [0, 0]]);
    expect(pictureAt(history(), [], "other", null)).toBeNull();
  });

  it("counts comparisons for the owner of a workset at that moment", () => {
    const shares = (moment_s: number | null) => pictureAt(history(), [moved], "join", moment_s)?.workers.map(({ share }) => share);
    expect(shares(2.2)).toEqual([0.75, 0.25, 0]);
    expect(shares(null)).toEqual([0, 0, 1]);
    expect(pictureAt(history(), [moved], "join", null)?.workers.map(({ worksets }) => worksets)).toEqual([0, 1, 2]);
  });

  it("keeps the loads of the last window when all have ended", () => {
    const ended = history();
    ended.add({ join: { worksets: [], loads: [] } }, 4);
    expect(pictureAt(ended, [], "join", null)?.compared).toBe(100);
  });

  it("leaves out worksets that are dropped", () => {
    const made = history();
    made.add({ join: { worksets: [], dropped: [[1, 1]] } }, 4);
    const spaces = (moment_s: number) => pictureAt(made, [], "join", moment_s)?.worksets.map(({ space }) => space);
    expect([spaces(3), spaces(4)]).toEqual([[0, 1, 2], [0, 2]]);
  });

  it("shows the records that were stored at a moment", () => {
    const record = { side: 0, event_s: 2.5, at: [1, 0], copies: [] };
    const made = history();
    made.add({ join: { worksets: [], stored: [record] } }, 4);
    made.add({ join: { worksets: [], stored: [] } }, 5);
    expect(pictureAt(made, [], "join", 3.5)?.stored).toEqual([]);
    expect(pictureAt(made, [], "join", 4.5)?.stored).toEqual([record]);
    expect(pictureAt(made, [], "join", null)?.stored).toEqual([record]); // when all windows have ended, those of the last one
  });

  it("says which share of the pairs of a window match", () => {
    const edges = [
      { source: "a", target: "f", target_port: "left", partitioning: { kind: "hash" } },
      { source: "b", target: "f", target_port: "right", partitioning: { kind: "hash" } },
      { source: "f", source_port: "out_left", target: "j", partitioning: { kind: "hash" } },
      { source: "f", source_port: "out_right", target: "j", partitioning: { kind: "hash" } },
    ];
    const made = (window: object, of: object[]) =>
      ({ query: { operators: [{ id: "j", kind: "similarity_join", params: { window } }], edges: of }, workload: { horizon_s: 20 } }) as never;
    const summary = { operators: { a: { in: 200 }, b: { in: 100 }, j: { out: 50 } } };
    const tumbling = { kind: "tumbling", size_s: 5 };
    expect(selectivityOf(made({ kind: "full_history" }, edges), summary, "j")).toBeCloseTo(50 / 20_000);
    expect(selectivityOf(made(tumbling, edges), summary, "j")).toBeCloseTo(50 / (4 * 50 * 25)); // four windows of 50 and 25 records
    expect(selectivityOf(made({ kind: "sliding", size_s: 5, slide_s: 2.5 }, edges), summary, "j")).toBeCloseTo(50 / (8 * 50 * 25));
    expect(selectivityOf(made({ kind: "full_history" }, [edges[0], edges[2]] as never), summary, "j")).toBeCloseTo(50 / ((200 * 199) / 2));
    expect(selectivityOf(made(tumbling, edges), null, "j")).toBe(null);
  });

  it("adds up what the stages of a join have counted", () => {
    const edges = [
      { source: "a", target: "f", target_port: "left", partitioning: { kind: "hash" } },
      { source: "b", target: "f", target_port: "right", partitioning: { kind: "hash" } },
      { source: "f", source_port: "out_left", target: "j", partitioning: { kind: "hash" } },
      { source: "f", source_port: "out_right", target: "j", partitioning: { kind: "hash" } },
    ];
    const [a, b] = [{ in: 50, out: 55, read: 150 }, { in: 50, out: 54, read: 150 }];
    const operators = { a, b, f: { in: 109, out: 170, read: 750 }, j: { in: 170, out: 46, read: 76 } };
    expect(stagesOf({ query: { operators: [], edges } } as never, { operators }, "j")).toEqual([
      { name: "Spaces", records: 100, distances: 300, sent: 109 },
      { name: "Worksets", records: 109, distances: 750, sent: 170 },
      { name: "Join", records: 170, distances: 76, sent: 46 },
    ]);
    expect(stagesOf({ query: { operators: [], edges } } as never, null, "j")).toEqual([]);
  });

  it("divides a split workset among the workers of its parts", () => {
    const history = new SpaceHistory();
    history.add({ j: { centroids: [[1, 0], [0, 1], [-1, 0]], worksets: [[2, 1, 2, -1, 0]], loads: [[2, 1, 90, 10]] } }, 1);
    const split = { join: "j", t_s: 1, from_s: 2, moves: [], splits: [[2, 1, 2, 2]] } as never;
    expect(pictureAt(history, [split], "j", 1.5)?.workers.map(({ compared }) => compared)).toEqual([0, 0, 90]);
    expect(pictureAt(history, [split], "j", 2)?.workers.map(({ worksets, compared }) => [worksets, compared])).toEqual([[1, 45], [0, 0], [1, 45]]);
  });

  it("divides the circle half-way between centroids", () => {
    const arcs = arcsOf([[1, 0], [0, 1], [-1, 0.0]]);
    expect(arcs.map(({ space }) => space)).toEqual([0, 1, 2]);
    expect(arcs.map(({ to }) => to)).toEqual([0.25, 0.75, 1.5]);
    expect(arcs.map(({ from }) => from)).toEqual([-0.5, 0.25, 0.75]);
    expect(arcsOf([[1, 0]])).toEqual([{ space: 0, from: -1, to: 1 }]);
    expect(turnOf(0, -1)).toBe(-0.5);
  });

  it("draws a circle for directions in the plane alone", () => {
    const of = (params: object) => coerceDocument({ query: { operators: [{ id: "j", kind: "similarity_join", params }], edges: [] } });
    expect(similarityJoins(of({}))).toEqual(["j"]);
    expect(isCircle(of({ left_coordinates: ["x", "y"] }), "j")).toBe(true);
    expect(isCircle(of({ left_coordinates: ["x", "y"], distance: "euclidean" }), "j")).toBe(false);
    expect(isCircle(of({ left_coordinates: ["x", "y", "z"] }), "j")).toBe(false);
    expect(isCircle(of({ left_coordinates: ["v"] }), "j")).toBe(false);
  });
});
