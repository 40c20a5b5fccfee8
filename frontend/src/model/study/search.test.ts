import { describe, expect, it } from "vitest";
import type { StudySearch } from "../../api/types";
import { knownLoad, spotsOf } from "./search";

const figures = { queue_growth_per_s: 2, offered_per_s: 100, latency_growth: 0.001 };
const tried = [{ load: 100, sustained: true, reasons: [], figures, run: "r", number: 3 }];
const open = { point: 0, values: {}, seed: 1, sustained: null, failed: null, over: false, failure: null, tried };
const search = (more: Partial<StudySearch>): StudySearch => ({ ...open, ...more });

describe("What a search knows", () => {
  it("is said while it runs, as bounds", () => {
    expect(knownLoad([search({ tried: [] })], true).value).toBe("not known yet");
    expect(knownLoad([search({ sustained: 120 })], true)).toEqual({ value: "at least 120", more: "searching" });
    expect(knownLoad([search({ sustained: 120, failed: 160 })], true).value).toBe("at least 120, below 160");
    expect(knownLoad([search({ sustained: 120, failed: 160 }), search({ seed: 2, failed: 140 })], true).value).toBe("below 160");
  });
  it("stays when it is cancelled, and says so", () => {
    expect(knownLoad([search({ sustained: 120, failed: 160 })], false)).toEqual({ value: "at least 120, below 160", more: "the search was stopped" });
  });
  it("is a number with its bracket and seeds in the end", () => {
    const over = { over: true, failed: 160 };
    expect(knownLoad([search({ ...over, sustained: 157 })], false)).toEqual({ value: "157", more: "160 is not sustained" });
    expect(knownLoad([search({ ...over, sustained: 150 }), search({ ...over, seed: 2, sustained: 158 })], false)).toEqual({
      value: "154",
      more: "160 is not sustained, 150 to 158 over 2 seeds",
    });
    expect(knownLoad([search({ over: true, sustained: 1000 })], false).value).toBe("at least 1,000");
    expect(knownLoad([search({ over: true, failed: 10 })], false).value).toBe("none");
    expect(knownLoad([search({ failure: "at load 9: the disk was full" })], false)).toEqual({ value: "unknown", more: "at load 9: the disk was full" });
  });
  it("rests on growth: of the queue as a share of the rate, of latency per second", () => {
    expect(spotsOf([search({})], "queue")[0]?.y).toBeCloseTo(2);
    expect(spotsOf([search({})], "latency")[0]?.y).toBeCloseTo(0.1);
    expect(spotsOf([search({ tried: tried.map((one) => ({ ...one, figures: {} })) })], "queue")).toEqual([]);
  });
});
