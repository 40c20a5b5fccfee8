import { describe, expect, it } from "vitest";
import type { Answer } from "../../api/analysis";
import { ALL_RUNS } from "./asking";
import { cellsOf, drawable, marksOf, names, questionText, seconds, spanText } from "./analysis";

const answer = (parts: Partial<Answer>): Answer => ({
  ...{ columns: [], rows: [], pooled: [], runs: 0, left_out: [], left_out_count: 0, took_s: 1 },
  ...parts,
});
const runs = ALL_RUNS;
const span = { from_s: null, to_s: null };

describe("questions", () => {
  it("are told in a line", () => {
    expect(questionText({ kind: "summaries", runs, span })).toBe("all runs");
    expect(questionText({ kind: "comparison", runs: { ...runs, search: "per_s=4000" }, against: { ...runs, tag: "base" }, span })).toBe("per_s=4000 against tagged base");
    expect(questionText({ kind: "surface", runs, span, metric: "p99_ms", x: "per_s", y: "horizon_s" })).toBe("p99_ms over per_s and horizon_s, all runs");
    expect(spanText(span)).toBe("after warm-up");
    expect(spanText({ from_s: 3, to_s: null })).toBe("3 s to the end");
  });
  it("take fields of a form", () => {
    expect([seconds(""), seconds(" 2.5 ")]).toEqual([null, 2.5]);
    expect(seconds("soon")).toBeNaN();
    expect(names("p99_ms, out_per_s  p50_ms,")).toEqual(["p99_ms", "out_per_s", "p50_ms"]);
  });
});

describe("answers", () => {
  it("have percentiles with their bounds", () => {
    const rows = [{ number: 3, p99_ms: 2, p99_low_ms: 1.9, p99_high_ms: 2.2 }, { number: 4, p99_ms: null }];
    expect(marksOf("summaries", answer({ rows }), "p99_ms")).toEqual([{ x: 3, y: 2, low: 1.9, high: 2.2 }]);
    const columns = ["number", "p99_ms", "recovery_s"].map((name) => ({ name, title: name, unit: "" }));
    expect(drawable("summaries", answer({ rows, columns })).map(({ name }) => name)).toEqual(["p99_ms"]);
  });
  it("have differences as shares of the base", () => {
    const rows = [{ title: "p99", base_mean: 50, difference: -10, low: -20, high: 5 }, { title: "none", base_mean: 0, difference: 1 }];
    expect(marksOf("comparison", answer({ rows }), "")).toEqual([{ x: "p99", y: -20, low: -40, high: 10 }]);
  });
  it("have surfaces with holes", () => {
    const rows = [{ x: 10, y: 2, mean: 1 }, { x: 9, y: 2, mean: 3 }, { x: 9, y: 1, mean: 4 }];
    expect(cellsOf(answer({ rows }))).toEqual({ x: [9, 10], y: [1, 2], z: [[4, null], [3, 1]] });
  });
});
