import { expect, test } from "vitest";
import type { InstanceRow } from "../../api/types";
import { keysText, queryOf, sorted, spanOf, shareText } from "./diagnosis";

const row = (index: number, busy: number, watermark_lag_ms: number | null = 0, host = "w1") =>
  ({ operator: "join", index, host, busy, watermark_lag_ms }) as InstanceRow;

test("a moment is diagnosed by the frames before it, a run as a whole without one", () => {
  expect(spanOf(null, 0.25)).toEqual({ from_s: null, to_s: null });
  expect(spanOf(30.25, 0.25)).toEqual({ from_s: 25.25, to_s: 30.25 });
  expect(spanOf(1, 0.1)).toEqual({ from_s: 0, to_s: 1 });
  expect(queryOf(spanOf(null, 0.25))).toBe("");
  expect(queryOf(spanOf(1, 0.1))).toBe("?from_s=0&to_s=1");
});

test("numbers begin with the largest, names with the first, and rows without a value come last", () => {
  const rows = [row(0, 0.2, null, "w10"), row(1, 0.9, 5, "w2"), row(2, 0.5, 7, "w2")];
  const order = (...by: [keyof InstanceRow, boolean]) => sorted(rows, ...by).map(({ index }) => index);
  expect(order("busy", false)).toEqual([1, 2, 0]);
  expect(order("busy", true)).toEqual([0, 2, 1]);
  expect(order("index", false)).toEqual([0, 1, 2]);
  expect(order("host", false)).toEqual([1, 2, 0]);
  expect(order("watermark_lag_ms", false)).toEqual([2, 1, 0]);
  expect(order("watermark_lag_ms", true)).toEqual([1, 2, 0]);
});

const found = { frame: 4, from_s: 1, to_s: 1.25, field: "bidder", records: 250, of_operator: 1000, distinct: 40, reason: null };
const keys = [{ key: "7", records: 100, share: 0.4 }, { key: "9", records: 5, share: 0.02 }];
test("hottest keys say what they are a part of", () => {
  expect(keysText({ ...found, keys }, "count[0]")).toBe(
    "Top 2 of 40 keys by bidder: 42 % of 250 records read in this frame. count[0] receives 25 % of its operator's records.",
  );
  expect(keysText({ ...found, distinct: 2, keys }, "count[0]")).toContain("2 keys by bidder: 250 records read in this frame.");
  expect(keysText({ ...found, records: 1, distinct: 1, keys: keys.slice(0, 1) }, "count[0]")).toContain("1 key by bidder: 1 record read in this frame.");
  expect(keysText({ ...found, records: 0, keys: [] }, "count[0]")).toBe("The sources read no record in this frame that goes to count[0].");
  expect([shareText(0.4321), shareText(0.0005)]).toEqual(["43.2 %", "0.05 %"]);
});
