import { describe, expect, it } from "vitest";
import { coerceDocument } from "./coerce";
import { differences } from "./diff";
import { edgeKey, freeName } from "./document";
import { duplicateOperators, patchOperator, placeOn, removeParts, renameOperator } from "./edits";
import { readDocument, writeDocument } from "./files";
import { localPlacement } from "./placement";
import { smallDocument } from "./testing";

describe("edits of the document", () => {
  it("renames an operator in edges, workload and positions", () => {
    const next = renameOperator(smallDocument(), "persons", "people");
    expect(next.query.operators[0]?.id).toBe("people");
    expect(next.query.edges[0]?.source).toBe("people");
    expect(Object.keys(next.workload.sources)).toEqual(["people"]);
    expect(next.ui?.positions).toEqual({ people: { x: 0, y: 0 } });
  });

  it("removes with an operator all that hangs on it, and nothing else", () => {
    const before = smallDocument();
    const next = removeParts(before, ["filter"], []);
    expect(next.query.edges.map(edgeKey)).toEqual(["join.out>sink.in"]);
    expect(next.query.operators).toHaveLength(4);
    expect(before.query.operators).toHaveLength(5);
  });

  it("copies operators with the edges among them under free names", () => {
    const [next, names] = duplicateOperators(smallDocument(), ["persons", "filter"]);
    expect(names).toEqual(["persons-2", "filter-2"]);
    expect(next.query.edges.at(-1)).toMatchObject({ source: "persons-2", target: "filter-2" });
    expect(next.workload.sources["persons-2"]).toEqual(next.workload.sources.persons);
  });

  it("finds free names that a document may hold", () => {
    expect(freeName("NexMark persons", [])).toBe("nexmark-persons");
    expect(freeName("2024 flights", ["flights"])).toBe("flights-2");
  });

  it("makes a strategy explicit without moving anybody else", () => {
    const document = smallDocument();
    const current = localPlacement(document);
    const next = placeOn(document, "join", ["gateway"], current);
    expect(localPlacement(next).filter).toEqual(current.filter);
    expect(localPlacement(next).join).toEqual(["gateway", "gateway"]);
  });

  it("opens any draft, and keeps what it does not know", () => {
    const draft = coerceDocument({ query: { operators: "none" }, later: 1 });
    expect(draft.query.operators).toEqual([]);
    expect(draft).toMatchObject({ later: 1 });
  });
});

describe("documents as files", () => {
  it("writes and reads both formats without a change", () => {
    const document = smallDocument();
    expect(readDocument(writeDocument(document, "yaml"))).toEqual(document);
    expect(readDocument(writeDocument(document, "json"))).toEqual(document);
  });

  it("says what is wrong with a file", () => {
    expect(() => readDocument("a: [")).toThrow(/neither YAML nor JSON/);
    expect(() => readDocument("- 1")).toThrow(/'query'/);
  });
});

describe("two versions", () => {
  it("differ where parts do, not where a part before them is new", () => {
    const mine = smallDocument();
    const theirs = removeParts(patchOperator(mine, "sink", { parallelism: 3 }), ["persons"], []);
    const pointers = differences(mine, theirs).map((difference) => difference.pointer);
    expect(pointers).toContain("/query/operators/persons");
    expect(pointers).toContain("/query/operators/sink/parallelism");
    expect(pointers.filter((pointer) => /auctions|filter\/|join\//.test(pointer))).toEqual([]);
  });
});
