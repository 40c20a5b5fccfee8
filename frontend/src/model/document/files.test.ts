import { describe, expect, it } from "vitest";
import { emptyDocument } from "./document";
import { isPython, readDocument, TEXT_LENGTH_MAX, writeDocument } from "./files";

describe("documents as texts", () => {
  it("come back as they were, in both formats", () => {
    const document = { ...emptyDocument("مرحبا 🎉 ".repeat(60)), description: "a\n  b: c\n" };
    for (const format of ["yaml", "json"] as const) expect(readDocument(writeDocument(document, format))).toEqual(document);
  });

  it("are refused with numbers that JSON cannot carry, which would silently become null", () => {
    for (const number of ["1e400", "-1e400", ".inf", ".nan"])
      expect(() => readDocument(`query: {}\nworkload:\n  horizon_s: ${number}`)).toThrow("/workload/horizon_s is not a finite number");
    expect(() => readDocument('{"query": {"operators": [{"a/b": 1e400}]}}')).toThrow("/query/operators/0/a~1b");
  });

  it("are refused when they are longer than any document", () => {
    expect(() => readDocument("#".repeat(TEXT_LENGTH_MAX + 1))).toThrow("1,000,001 characters");
  });

  it("get the document's own defaults for what they leave out and the canvas draws", () => {
    const { query, placement } = readDocument("query: {operators: [{id: a}, {id: b}], edges: [{source: a, target: b}]}");
    expect(query.edges).toEqual([{ source: "a", target: "b", partitioning: { kind: "forward" } }]);
    expect(placement).toEqual({ kind: "spread" });
  });

  it("are told from Python by how a line begins", () => {
    for (const code of ["import millrace\n", 'name = "x"', "# of mine\nfrom os import path"]) expect(isPython(code)).toBe(true);
    const described = { ...emptyDocument(), description: "x = 1\nimport y\n" };
    for (const text of [writeDocument(described, "yaml"), writeDocument(described, "json"), "- 1\n- 2", "<script>"])
      expect(isPython(text)).toBe(false);
  });
});
