import { describe, expect, it } from "vitest";
import type { BalancingAction } from "../../api/types";
import { actionAt, handOverOf, imbalancesOf, isBalanced, loadsOf, loadUnit } from "./balancing";

const action = (t_s: number, join = "join"): BalancingAction => ({
  t_s,
  from_s: t_s + 0.1,
  join,
  worksets: 3,
  loads: [30, 0, 0],
  planned: [10, 10, 10],
  imbalance: 40,
  imbalance_planned: 0,
  imbalance_share: 4,
  moves: [
    [0, 2, 0, 1, 10, 0, 20],
    [0, 3, 0, 2, 10, 0, 20],
  ],
  pending: 0,
});

describe("balancing of worksets", () => {
  it("shows the last action up to the moment held", () => {
    const actions = [action(9.9), action(9.9, "other"), action(19.9)];
    expect(actionAt(actions, "join", 15)?.t_s).toBe(9.9);
    expect(actionAt(actions, "join", null)?.t_s).toBe(19.9);
    expect(actionAt(actions, "other", null)?.t_s).toBe(9.9);
    expect(actionAt(actions, "join", 5)).toBeNull();
  });

  it("measures loads by their mean", () => {
    expect(loadsOf(action(1))).toEqual([
      { worker: 0, before: 3, after: 1, given: 2, taken: 0 },
      { worker: 1, before: 0, after: 1, given: 0, taken: 1 },
      { worker: 2, before: 0, after: 1, given: 0, taken: 1 },
    ]);
    expect(loadsOf({ ...action(1), loads: [0, 0], planned: [0, 0], moves: [] })[0]?.before).toBe(0);
  });

  it("lists the imbalance at each plan of a join", () => {
    const half = { ...action(19.9), imbalance_planned: 10 };
    expect(imbalancesOf([action(9.9), action(9.9, "other"), half], "join")).toEqual([
      { t_s: 9.9, before: 4, after: 0 },
      { t_s: 19.9, before: 4, after: 1 },
    ]);
    expect(imbalancesOf([{ ...action(1), imbalance: 0, imbalance_share: 0 }], "join")[0]?.after).toBe(0);
  });

  it("finds the hand-over of an action once it has ended", () => {
    const handOvers = [{ number: 2, bytes: 800, ordered_s: 3, aligned_s: 3.2, ended_s: 3.5 }];
    expect(handOverOf(handOvers, { ...action(3), hand_over: 2 }, null)?.bytes).toBe(800);
    expect(handOverOf(handOvers, { ...action(3), hand_over: 2 }, 3.4)).toBeNull();
    expect(handOverOf(handOvers, action(3), null)).toBeNull();
  });

  it("says what loads are counted in", () => {
    expect(loadUnit({ policies: { balancing: { kind: "s3j" } } } as never)).toBe("Comparisons");
    expect(loadUnit({ policies: { balancing: { kind: "s3j", load: "cpu_time" } } } as never)).toBe("CPU time, µs");
  });

  it("is there if the document names a balancer", () => {
    expect(isBalanced({ policies: { balancing: { kind: "s3j" } } } as never)).toBe(true);
    expect(isBalanced({ policies: {} } as never)).toBe(false);
    expect(isBalanced({} as never)).toBe(false);
  });
});
