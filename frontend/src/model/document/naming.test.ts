import { describe, expect, it } from "vitest";
import type { JsonSchema, Problem } from "../../api/types";
import { named, sentenceOf } from "./naming";
import { KINDS, kind, smallDocument } from "./testing";

const window = { oneOf: [{ properties: { kind: { const: "tumbling" }, size_s: { type: "number" } }, required: ["size_s"] }] };
const join = {
  ...kind("join", ["left", "right"], ["out"]),
  schema: {
    type: "object",
    properties: { left_key: { type: "string", "x-editor": "field" }, predicate: { type: "string" }, window },
    required: ["left_key", "predicate", "window"],
  } as JsonSchema,
};
const kinds = new Map([...KINDS, ["join", join]]);
const link = { type: "object", properties: { source: { type: "string", title: "From" }, latency_ms: { type: "number" }, other_ms: { type: "number" } } };
const root = {
  type: "object",
  properties: {
    query: { properties: { operators: { type: "array", items: { properties: { id: { type: "string" }, params: { type: "object" } } } } } },
    cluster: { $ref: "#/$defs/Cluster" },
  },
  $defs: { Cluster: { type: "object", properties: { links: { type: "array", items: link } } } },
} as unknown as JsonSchema;

const problem = (pointer: string, message: string, code = "missing"): Problem => ({
  pointer,
  message,
  code,
  hint: "",
  value: null,
  severity: "error",
  missing: code === "missing",
});

function said(pointer: string, message: string, code?: string, params: object = {}): string {
  const document = smallDocument();
  const operators = document.query.operators.map((one) => (one.id === "join" ? { ...one, params: params as never } : one));
  return sentenceOf(named(problem(pointer, message, code), { ...document, query: { ...document.query, operators } }, root, kinds));
}

describe("a problem in the words of the forms", () => {
  it("says whose it is and what to do, where a field is missing", () => {
    expect(said("/query/operators/3/params/left_key", "left_key is missing; add it: field of the left")).toBe("join: choose a left key");
    expect(said("/query/operators/3/params/predicate", "predicate is missing; add it")).toBe("join: enter a predicate");
    expect(said("/query/operators/3/params/window/kind", "window has no kind; add one")).toBe("join: choose a window");
    const tumbling = { window: { kind: "tumbling" } };
    expect(said("/query/operators/3/params/window/size_s", "size_s is missing; add it", "missing", tumbling)).toBe("join: enter a size");
  });

  it("calls a field by its label, and an operator once", () => {
    const tumbling = { window: { kind: "tumbling", size_s: -1 } };
    const size = said("/query/operators/3/params/window/size_s", "size_s is -1; it must be above 0 s", "out_of_range", tumbling);
    expect(size).toBe("join: Size is -1; it must be above 0 s");
    expect(said("/cluster/links/0/source", "source is 'x', but the cluster has no such host", "unknown_host")).toBe(
      "Network: From is 'x', but the cluster has no such host",
    );
    expect(said("/query/operators/3", "input port 'left' of operator 'join' has no edge")).toBe("input port 'left' of operator 'join' has no edge");
  });

  it("calls the other fields of the form by their labels, where a name is no word", () => {
    const message = "latency_ms is 5, below other_ms (7); it must be at least other_ms";
    expect(said("/cluster/links/0/latency_ms", message, "out_of_range")).toBe("Network: Latency is 5, below Other (7); it must be at least Other");
  });

  it("leaves what no schema knows as the server says it", () => {
    expect(said("/query/operators/9/params/odd", "odd is missing; add it")).toBe("odd is missing; add it");
    expect(said("", "the document is too large", "too_large")).toBe("the document is too large");
  });
});
