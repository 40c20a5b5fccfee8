import { describe, expect, it } from "vitest";
import type { Corpus, LearnedModelsDetail } from "../../api/types";
import { balanceText, coursesOf, worthOf } from "./worth";

const DETAIL = {
  training: [
    { metric: "throughput", seed: 43, is_trained: false, epochs: [{ number: 1, loss: 9, validation: 4, best: true }] },
    { metric: "throughput", seed: 42, is_trained: true, epochs: [{ number: 1, loss: 8, validation: 3, best: true }] },
  ],
  report: [
    {
      metric: "throughput",
      traces: { training: 80, validation: 10, test: 10 },
      off: { costream: { q50: 1.6053, q95: 5.4967, low: 1.4382, high: 1.7222 }, constant: { q50: 10.5, q95: 315, low: 8, high: 14 } },
      points: [[10, 12]],
    },
    { metric: "success", traces: { training: 80, validation: 10, test: 10 }, off: { costream: { accuracy: 0.94, precision: 0.9, recall: null } }, points: [] },
  ],
} as unknown as LearnedModelsDetail;

const corpus = (extra: object) => ({ traces: 4000, done: 4000, balance: null, ...extra }) as unknown as Corpus;

describe("what models are worth", () => {
  it("stands by cost and predictor", () => {
    const [throughput, delivers] = worthOf(DETAIL);
    expect(throughput?.rows).toEqual([
      { predictor: "Network", isNetwork: true, cells: ["1.61", "1.44 to 1.72", "5.5"] },
      { predictor: "Constant", isNetwork: false, cells: ["10.5", "8 to 14", "315"] },
    ]);
    expect([throughput?.tested, throughput?.learnedFrom, throughput?.points]).toEqual([10, 80, [[10, 12]]]);
    expect(delivers?.rows[0]?.cells).toEqual(["94 %", "90 %", "–"]);
  });

  it("has the course of training, member by member", () => {
    const [course, ...others] = coursesOf(DETAIL);
    expect(others).toEqual([]);
    expect(course?.cost.id).toBe("throughput");
    expect(course?.members.map(({ seed, isTrained, validation }) => [seed, isTrained, validation])).toEqual([
      [42, true, [3]],
      [43, false, [4]],
    ]);
  });

  it("says how a corpus is spread, or how far it is", () => {
    expect(balanceText(corpus({ done: 1250 }))).toBe("1,250 of 4,000 traces measured");
    expect(balanceText(corpus({ balance: { traces: 4000, succeeded: 3360, backpressured: 1109 } }))).toBe("16 % fail, 33 % of the others fall behind");
  });
});
