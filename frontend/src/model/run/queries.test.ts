import { describe, expect, it } from "vitest";
import type { Frame } from "../../api/types";
import { logOf } from "./frames";
import { orderedCopies, queryRows } from "./queries";

const frameOf = (n: number): Frame =>
  ({ n, t_s: (n + 1) / 4, latency_ms: latency, offered_per_s: 0, in_per_s: 0, out_per_s: 0, backlog: 0, operators: {}, hosts: {} });
const latency = { count: 3, mean: 2, p50: 2, p95: 4, p99: 5, max: 6 };
const rest = { latencies_ms: {}, in_per_s: 30, out_per_s: 3, served_per_s: 90, late: 0, queue: 7 };
const copies = {
  "ysb-1": { mean_ms: 1, out_per_s: 2, queue: 5 },
  "ysb-2": { mean_ms: null, out_per_s: 0, queue: 2 },
  "ysb-10": { mean_ms: 4, out_per_s: 1, queue: 0 },
};
const queries = { ysb: { latency_ms: latency, ...rest, copies }, tolls: { latency_ms: latency, ...rest } };
const frame = (): Frame => ({ ...frameOf(0), queries });

describe("queries of a frame", () => {
  it("are rows, each with its copies, after the frame went through the log", () => {
    const rows = queryRows(logOf([frame()]), 0);
    expect(rows.map(({ name, mean_ms, p99_ms, served_per_s, copies }) => [name, mean_ms, p99_ms, served_per_s, copies.length])).toEqual([
      ["ysb", 2, 5, 90, 3],
      ["tolls", 2, 5, 90, 0],
    ]);
    expect(rows[0]?.copies[1]).toEqual({ name: "ysb-2", mean_ms: null, out_per_s: 0, queue: 2 });
    expect(queryRows(logOf([frameOf(0)]), 0)).toEqual([]);
    expect(queryRows(logOf([]), -1)).toEqual([]);
  });

  it("have the latency of the last frame with deliveries", () => {
    const none = { count: 0, mean: null, p50: null, p95: null, p99: null, max: null };
    const silent = { "ysb-1": { mean_ms: null, out_per_s: 0, queue: 1 } };
    const later: Frame = { ...frameOf(1), queries: { ysb: { latency_ms: none, ...rest, copies: silent } } };
    const [row] = queryRows(logOf([frame(), later]), 1);
    expect([row?.mean_ms, row?.p99_ms, row?.copies[0]]).toEqual([2, 5, { name: "ysb-1", mean_ms: 1, out_per_s: 0, queue: 1 }]);
  });

  it("sort their copies, those without a value last", () => {
    const [row] = queryRows(logOf([frame()]), 0);
    const names = (order: Parameters<typeof orderedCopies>[1]) => orderedCopies(row?.copies ?? [], order).map(({ name }) => name);
    expect(names("name")).toEqual(["ysb-1", "ysb-2", "ysb-10"]);
    expect(names("mean_ms")).toEqual(["ysb-10", "ysb-1", "ysb-2"]);
    expect(names("queue")).toEqual(["ysb-1", "ysb-2", "ysb-10"]);
  });
});
