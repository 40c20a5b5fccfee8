import { describe, expect, it } from "vitest";
import type { CheckpointNews, CheckpointRound, DurableCheckpoint, Recovery } from "../../api/types";
import { frame } from "../document/testing";
import { aligningSince } from "./aligning";
import { changesText, CheckpointHistory, forcedText, lineText, logSizes, nearest, rowsOf, stagesOf, stretches, turnText } from "./checkpoints";
import { logOf } from "./frames";

const NOTHING: CheckpointNews = {
  rounds: [],
  skipped_s: [],
  captured: [],
  durable: [],
  recoveries: [],
  aligning: { operators: {}, barred_channels: {} },
};
const round = (number: number, changes: Partial<CheckpointRound> = {}): CheckpointRound => ({
  number,
  epoch: 0,
  triggered_s: 5 * number,
  ended: "confirmed",
  ended_s: 5 * number + 0.1,
  hosts_done: 2,
  checkpoints: 2,
  bytes: 1000,
  ...changes,
});
const durable = (index: number, number: number): DurableCheckpoint => ({
  operator: "join",
  index,
  number,
  captured_s: 5 * number + 0.01 * index,
  durable_s: 5 * number + 0.05 + 0.01 * index,
  bytes: 500,
  kind: "coordinated",
});
const recovery = (changes: Partial<Recovery> = {}): Recovery => ({
  epoch: 1,
  hosts: ["w2"],
  detected_s: 12,
  ordered_s: { w10: 12, w2: 12.3 },
  restored_s: { w10: 12.2 },
  go_s: null,
  line: { join: [1, 1] },
  ...changes,
});

/** Two rounds of two instances; the second one is aborted by a recovery, with one checkpoint stored and one under way. */
function history(): CheckpointHistory {
  const made = new CheckpointHistory();
  made.add({ ...NOTHING, rounds: [round(1, { ended: null, ended_s: null })], captured: [{ operator: "join", index: 1, number: 1, captured_s: 5.01 }] });
  made.add({ ...NOTHING, rounds: [round(1)], durable: [durable(0, 1), durable(1, 1)] });
  made.add({ ...NOTHING, captured: [{ operator: "join", index: 1, number: 2, captured_s: 10.01 }], durable: [durable(0, 2)], skipped_s: [11] });
  made.add({ ...NOTHING, rounds: [round(2, { ended: "aborted", ended_s: 12 })], recoveries: [recovery()] });
  return made;
}

describe("what a round changes", () => {
  it("is told with its reason", () => {
    expect(turnText({ to: "uncoordinated", why: "wait", measured: 0.31, limit: 0.2 })).toBe(
      "from here on uncoordinated: instances waited for barriers for 31 % of the interval, more than 20 %",
    );
    expect(turnText({ to: "coordinated", why: "load", measured: 1.084, limit: 1.2 })).toMatch(/^from here on coordinated: .* 1.08 times .* 1.2$/);
  });
});

describe("the history", () => {
  it("knows whose round a number is, where only some operators take part", () => {
    const made = new CheckpointHistory();
    made.add({ ...NOTHING, rounds: [round(1, { ended: "failed", region: "front", operators: ["bids"] })], durable: [durable(0, 1)] });
    expect(made.roundOf(1, "bids")?.region).toBe("front");
    expect(made.roundOf(1, "join")).toBeUndefined();
    expect(made.checkpoints.get("join")?.map((one) => made.fateOf(one))).toEqual(["stored"]);
  });

  it("has each thing once, as it was told last", () => {
    const made = history();
    expect(made.rounds.map(({ number, ended }) => [number, ended])).toEqual([[1, "confirmed"], [2, "aborted"]]);
    expect(made.checkpoints.get("join")?.map(({ index, number, durable_s }) => [index, number, durable_s !== null])).toEqual([
      [1, 1, true],
      [0, 1, true],
      [1, 2, false],
      [0, 2, true],
    ]);
    made.add({ ...NOTHING, recoveries: [recovery({ go_s: 12.4 })] });
    expect(made.recoveries.map(({ go_s }) => go_s)).toEqual([12.4]);
  });

  it("knows what became of each checkpoint", () => {
    const made = history();
    const fates = () => made.checkpoints.get("join")?.map((one) => made.fateOf(one));
    expect(fates()).toEqual(["line", "line", "lost", "lost"]);
    made.add({ ...NOTHING, recoveries: [recovery({ go_s: 12.4 })], captured: [{ operator: "join", index: 0, number: 3, captured_s: 12.1 }] });
    expect(fates()?.at(-1)).toBe("lost");
    made.add({ ...NOTHING, rounds: [round(3, { epoch: 1 })], durable: [durable(0, 3)], captured: [{ operator: "join", index: 1, number: 3, captured_s: 15 }] });
    expect(fates()?.slice(5)).toEqual(["pending", "stored"]);
    made.add({ ...NOTHING, rounds: [round(3, { epoch: 1, ended: "failed" })] });
    expect(fates()?.slice(5)).toEqual(["lost", "lost"]);
  });
});

describe("rows", () => {
  it("show an operator's checkpoints of one number as one bar, and instances when expanded", () => {
    const operators = [{ id: "join", instances: 2 }, { id: "sink", instances: 1 }];
    const [join, sink] = rowsOf(history(), operators, null);
    expect(join?.bars.map(({ from_s, to_s, fate, checkpoints }) => [from_s, to_s, fate, checkpoints.length])).toEqual([
      [5, 5.06, "line", 2],
      [10, 12, "lost", 2], // one never came to the store: it was given up with its round
    ]);
    expect(sink?.bars).toEqual([]);
    expect(rowsOf(history(), operators, "join").map(({ operator, index, bars }) => [operator, index, bars.length])).toEqual([
      ["join", null, 2],
      ["join", 0, 2],
      ["join", 1, 2],
      ["sink", null, 0],
    ]);
  });

  it("are drawn within the axis, wide enough to be seen, and once where they touch", () => {
    const bars = [{ from_s: 4, to_s: 4.001 }, { from_s: 4.02, to_s: 4.03 }, { from_s: 9, to_s: null }, { from_s: 30, to_s: 31 }];
    const drawn = (from_s: number, to_s: number) => stretches(bars, { from_s, to_s }, 1000, 9.5).map((one) => one.map(Math.round));
    expect(drawn(0, 10)).toEqual([[400, 5], [900, 50]]);
    expect(drawn(9.2, 9.4)).toEqual([[0, 1000]]);
  });

  it("are asked what lies nearest to a moment", () => {
    const bars = [{ from_s: 1, to_s: 2 }, { from_s: 4, to_s: null }];
    expect(nearest(bars, 1.5, 0.1)).toBe(bars[0]);
    expect(nearest(bars, 2.05, 0.1)).toBe(bars[0]);
    expect(nearest(bars, 3, 0.1)).toBeNull();
    expect(nearest(bars, 99, 0.1)).toBe(bars[1]);
  });
});

describe("a recovery", () => {
  it("has stages for each host, by name", () => {
    const losses = [{ host: "w2", start_s: 3 }, { host: "w2", start_s: 11.9 }, { host: "w2", start_s: 13 }, { host: "w10", start_s: 2 }];
    expect(stagesOf(recovery(), losses)).toEqual([
      { host: "w2", lost_s: 11.9, ordered_s: 12.3, restored_s: null },
      { host: "w10", lost_s: null, ordered_s: 12, restored_s: 12.2 },
    ]);
  });

  it("says how far all go back", () => {
    expect(lineText(recovery())).toBe("checkpoint 1");
    expect(lineText(recovery({ line: { join: [0, 0] } }))).toBe("the start of the run");
    expect(lineText(recovery({ line: { join: [0, 2], sink: [3] } }))).toBe("checkpoints 0 (the start) to 3");
    expect(lineText(recovery({ found_s: null, line: {} }))).toBe("a recovery line that is still being searched for");
    expect(lineText(recovery({ found_s: 12.01, line: { join: [0, 0] } }))).toBe("the start of the run");
  });
});

it("knows since when an operator's instances wait for barriers", () => {
  const log = logOf(
    [0, 2, 1, 0].map((instances, n) =>
      frame(n, { checkpoints: { ...NOTHING, aligning: { operators: { join: { instances, passed_over: 0 } }, barred_channels: {} } } }),
    ),
  );
  expect([0, 1, 2, 3].map((n) => aligningSince(log, n, "join"))).toEqual([null, 0.5, 0.5, null]);
  expect(aligningSince(log, 1, "sink")).toBeNull();
  expect(log.frame(2)?.checkpoints?.aligning.operators.join?.instances).toBe(1);
});

describe("what protocols add", () => {
  it("tells useless checkpoints apart", () => {
    const history = new CheckpointHistory();
    const durable = { operator: "join", index: 0, number: 1, captured_s: 1, durable_s: 2, bytes: 8, kind: "basic" };
    history.add({ ...NOTHING, durable: [durable, { ...durable, number: 2, captured_s: 3, durable_s: 4 }] });
    history.add({ ...NOTHING, useless: [{ operator: "join", index: 0, number: 1 }] });
    const [row] = rowsOf(history, [{ id: "join", instances: 1 }], null);
    expect(row?.bars.map(({ fate }) => fate)).toEqual(["useless", "stored"]);
  });
  it("says by which rule checkpoints were forced", () => {
    expect(forcedText([{ kind: "basic" }])).toBe("");
    expect(forcedText([{ kind: "forced", reason: "cycle" }])).toBe("forced (cycle)");
    expect(forcedText([{ kind: "forced", reason: "clock" }, { kind: "basic" }, { kind: "forced", reason: "clock" }])).toBe("2 forced (clock)");
  });
  it("sorts logs by size", () => {
    expect(logSizes({ "a.out>b.in": 5, "b.out>c.in": 20, "c.out>d.in": 0 })).toEqual({ edges: [["b.out>c.in", 20], ["a.out>b.in", 5]], total: 25 });
    expect(logSizes(undefined)).toEqual({ edges: [], total: 0 });
  });

  it("says since when a checkpoint stores changes", () => {
    expect(changesText([{}])).toBe("");
    expect(changesText([{ base: 3 }])).toBe("changes since checkpoint 3");
    expect(changesText([{ base: 3 }, {}, { base: 3 }])).toBe("2 with changes since checkpoint 3");
    expect(changesText([{ base: 3 }, { base: 2 }])).toBe("changes");
  });
});
