import { describe, expect, it } from "vitest";
import type { StoredRecord } from "../../api/types";
import { copiesOf, keyOf, metBy, ruleOf } from "./storedRecords";

const record = (side: number, event_s: number, copies: StoredRecord["copies"]): StoredRecord => ({ side, event_s, at: [1, 0], copies });
const a = record(0, 1, [
  [1, 2, 1, 1, 0.02, 4, 5, 6],
  [0, 3, 0, 0, 0.004, 7, 8, 9],
]);

describe("stored records of a similarity join", () => {
  it("counts whom each copy meets by the roles of both", () => {
    expect(copiesOf(a).map(({ space, role, compared, uncompared, left }) => [space, role, compared, uncompared, left])).toEqual([
      [0, "inner", 17, 7, 0],
      [1, "outer", 10, 0, 5],
    ]);
    const [outlier] = copiesOf(record(0, 1, [[0, 1, 0, 2, 0.008, 1, 2, 3]]));
    expect([outlier?.role, outlier?.compared, outlier?.uncompared, outlier?.left]).toEqual(["outlier", 6, 0, 0]);
  });

  it("says which rule sent a copy", () => {
    const [home, copy] = copiesOf(a);
    expect(home && ruleOf(home, 0, 0.01)).toMatch(/^inner: within 0.005/);
    expect(copy && ruleOf(copy, 0, 0.01)).toBe("outer copy: within 0.02, compared with inner records and outliers; its space's centroid is at most 0.02 farther than the nearest");
    const [first] = copiesOf(record(0, 1, [[0, 1, 0, 0, 0, 0, 0, 0]]));
    expect(first && ruleOf(first, 0, 0.01)).toBe("inner: its vector opened the workset");
  });

  it("finds the others that it meets: of the other stream, in one workset and part, not both outer", () => {
    const met = record(1, 2, [[1, 2, 1, 0, 0, 0, 0, 0]]);
    const bothOuter = record(1, 3, [[1, 2, 1, 1, 0, 0, 0, 0]]);
    const sameStream = record(0, 4, [[0, 3, 0, 0, 0, 0, 0, 0]]);
    const otherPart = record(1, 5, [[0, 3, 2, 0, 0, 0, 0, 0]]);
    const all = [a, met, bothOuter, sameStream, otherPart];
    expect(metBy(a, all, false)).toEqual([met]);
    expect(metBy(a, all, true)).toEqual([met, sameStream]);
    expect(keyOf(a)).toBe("0 1 1 0");
  });
});
