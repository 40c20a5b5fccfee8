import { describe, expect, it } from "vitest";
import { compareLink, figureRows, idsOf, onOneAxis, parameterRows, placeOf, valueAt } from "./compare";

const document = (parallelism: number, extra: object = {}) => ({
  name: `with ${parallelism}`,
  query: { operators: [{ id: "join", parallelism, params: { key: "a/b" } }] },
  ui: { positions: { join: { x: parallelism, y: 0 } } },
  ...extra,
});

describe("parameters", () => {
  it("are told by pointer, only where they differ, without names and positions", () => {
    const documents = [document(2), document(3, { faults: [] }), document(2, { seed: 7 })];
    expect(parameterRows(documents, true)).toEqual([
      { pointer: "/query/operators/0/parallelism", values: [2, 3, 2] },
      { pointer: "/seed", values: [undefined, undefined, 7] },
    ]);
    expect(parameterRows(documents, false).map(({ pointer }) => pointer)).toContain("/query/operators/0/params/key");
    expect(parameterRows([document(2), document(2)], true)).toEqual([]);
  });

  it("are said to be whose", () => {
    expect(placeOf("/query/operators/0/params/key", [document(1)])).toBe("join");
    expect(placeOf("/query/operators/7/kind", [document(1)])).toBe("");
    expect(placeOf("/workload/seed", [document(1)])).toBe("");
    expect(placeOf("/query/edges/0/partitioning/kind", [{ query: { edges: [{ source: "a", target: "b" }] } }])).toBe("a → b");
  });
});

describe("series", () => {
  it("of frames of different lengths share one axis without making up values", () => {
    const fine = { t_s: [0.5, 1, 1.5, 2], values: [1, null, 3, 4] };
    const coarse = { t_s: [1, 2], values: [10, 20] };
    expect(onOneAxis([fine, coarse])).toEqual({
      t_s: [0.5, 1, 1.5, 2],
      columns: [
        [1, null, 3, 4],
        [undefined, 10, undefined, 20],
      ],
    });
    expect([0.2, 1.2, 2, 2.5].map((moment_s) => valueAt(coarse, moment_s))).toEqual([10, 20, 20, null]);
  });
});

describe("figures", () => {
  it("stand against the first run; what nobody has is left out", () => {
    const rows = figureRows([
      { summary: { latency_ms: { p99: 10 }, late: 0, lost: 0 } },
      { summary: { latency_ms: { p99: 15 }, late: 0, lost: 4 } },
      { summary: null },
    ]);
    expect(rows.map(({ label, values, changes }) => [label, values, changes])).toEqual([
      ["Latency, p99", [10, 15, null], [0, 0.5, null]],
      ["Lost with hosts", [0, 4, null], [0, null, null]],
    ]);
  });
});

it("an address names each run once, and not too many", () => {
  expect(idsOf("a,b,a,,c,d,e")).toEqual(["a", "b", "c", "d"]);
  expect(compareLink(["a", "b"])).toBe("/compare?runs=a,b");
});
