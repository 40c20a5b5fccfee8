import { describe, expect, it } from "vitest";
import type { ExperimentDocument } from "../../api/document";
import { emptyDocument } from "./document";
import { duplicateOperators, removeParts, renameOperator } from "./edits";
import { copiesOf, instancesNow, nameAsQuery, putIntoQuery, queriesOf, queryIndexOf, queryInWords, withQueries } from "./queries";

const drawn = (): ExperimentDocument => ({
  ...emptyDocument(),
  query: {
    operators: ["in", "count", "out", "other"].map((id) => ({ id, kind: "union" })),
    edges: [],
    queries: [{ name: "ysb", operators: ["in", "count", "out"], copies: 40, start_within_s: 20 }],
  },
});

describe("named queries", () => {
  it("are found by their operators", () => {
    expect(queryIndexOf(drawn(), "count")).toBe(0);
    expect(queryIndexOf(drawn(), "other")).toBe(-1);
    expect([copiesOf(drawn(), "out"), copiesOf(drawn(), "other")]).toEqual([40, undefined]);
    expect(queriesOf(drawn()).map(queryInWords)).toEqual(["ysb, 40 copies"]);
    expect(queryInWords({ name: "tolls", operators: [] })).toBe("tolls");
  });

  it("take their operators from others, in the order of the document, and have a free name", () => {
    const next = nameAsQuery(drawn(), ["other", "in"]);
    expect(queriesOf(next)).toEqual([
      { name: "ysb", operators: ["count", "out"], copies: 40, start_within_s: 20 },
      { name: "query", operators: ["in", "other"] },
    ]);
    expect(queriesOf(nameAsQuery(next, ["count", "out"])).map(({ name }) => name)).toEqual(["query", "query-2"]);
  });

  it("let an operator move and leave; the last one takes the query along", () => {
    const two = nameAsQuery(drawn(), ["other"]);
    expect(queriesOf(putIntoQuery(two, "other", 0))).toEqual([{ ...queriesOf(two)[0], operators: ["in", "count", "out", "other"] }]);
    expect(queriesOf(putIntoQuery(two, "count", -1))[0]?.operators).toEqual(["in", "out"]);
    expect(putIntoQuery(withQueries(drawn(), [{ name: "one", operators: ["in"] }]), "in", -1).query).not.toHaveProperty("queries");
  });

  it("count the instances of all copies, rescaled ones as they are now", () => {
    expect([instancesNow(drawn(), "count", 2), instancesNow(drawn(), "other", 2)]).toEqual([80, 2]);
    expect(instancesNow(drawn(), "count", 2, { "count-1": 5, count: 9 })).toBe(83);
    expect(instancesNow(drawn(), "other", 2, { other: 9 })).toBe(9);
  });

  it("follow operators that are renamed or removed; duplicates are in no query", () => {
    expect(queriesOf(renameOperator(drawn(), "count", "sum"))[0]?.operators).toEqual(["in", "sum", "out"]);
    expect(queriesOf(removeParts(drawn(), ["in", "out"], []))[0]?.operators).toEqual(["count"]);
    expect(removeParts(drawn(), ["in", "count", "out"], []).query).not.toHaveProperty("queries");
    const [next, ids] = duplicateOperators(drawn(), ["count"]);
    expect(queryIndexOf(next, ids[0] as string)).toBe(-1);
  });
});
