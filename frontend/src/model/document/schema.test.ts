import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../api/types";
import { differences } from "./diff";
import { countFields, formSchema, initialValue, isAdvanced, labelOf, rangeOf, schemaAt, unitOf } from "./schema";
import { smallDocument } from "./testing";
import { joinPointer, problemsByPart, targetOf } from "./validate";

const ROOT: JsonSchema = {
  $defs: {
    Host: {
      type: "object",
      properties: { name: { type: "string" }, count: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null } },
      required: ["name"],
    },
    Cluster: { type: "object", properties: { hosts: { type: "array", items: { $ref: "#/$defs/Host" } } } },
  },
  type: "object",
  properties: { cluster: { $ref: "#/$defs/Cluster" } },
};

describe("fields that few people change", () => {
  const store = { type: "object", properties: { read: { type: "number", default: 5 }, write: { type: "number" } } } as unknown as JsonSchema;
  const root = { $defs: { Store: store } } as unknown as JsonSchema;
  const own = { $ref: "#/$defs/Store", default: { read: 7 }, "x-advanced": true } as unknown as JsonSchema;

  it("are counted one by one, with those that differ from their default", () => {
    expect(isAdvanced(own)).toBe(true);
    expect(isAdvanced(store)).toBe(false);
    expect(countFields(root, own, undefined)).toEqual({ fields: 2, changed: 0 });
    expect(countFields(root, own, { read: 7 })).toEqual({ fields: 2, changed: 0 });
    expect(countFields(root, own, { read: 7, write: null })).toEqual({ fields: 2, changed: 0 });
    expect(countFields(root, own, { read: 5, write: 1 })).toEqual({ fields: 2, changed: 2 });
    expect(countFields(root, { type: "number", default: 3 } as unknown as JsonSchema, 4)).toEqual({ fields: 1, changed: 1 });
  });
});

describe("schemas as forms", () => {
  it("reads units and labels from the field", () => {
    expect(unitOf("egress_mbit_per_s")).toBe("Mbit/s");
    expect(unitOf("speed", { "x-unit": "x" })).toBe("x");
    expect(labelOf("egress_latency_ms", { title: "Egress Latency Ms" })).toBe("Egress latency");
    expect(labelOf("egress_latency_ms", { title: "Latency" })).toBe("Latency");
    expect(rangeOf({ default: 5, minimum: 0.1, maximum: 600 })).toBe("default 5, 0.1 to 600");
  });

  it("walks the document's schema and makes optional fields plain", () => {
    const host = schemaAt(ROOT, ["cluster", "hosts", "*"]);
    expect(Object.keys((host?.properties ?? {}) as object)).toEqual(["name", "count"]);
    const form = formSchema(host ?? {}, ["name"]);
    expect(form.properties).toEqual({ count: { type: "integer", minimum: 1 } });
    expect(form.required).toEqual([]);
    expect(schemaAt(ROOT, ["nothing"])).toBeUndefined();
  });

  it("begins with the defaults and the tag", () => {
    expect(initialValue({ properties: { kind: { const: "constant" }, per_s: { default: 1000 }, key: { type: "string" } } })).toEqual({
      kind: "constant",
      per_s: 1000,
    });
  });

  it("begins with the first kind of a required union, as the form shows it", () => {
    const tumbling = { properties: { kind: { const: "tumbling" }, size_s: { type: "number" }, origin_s: { default: 0 } }, required: ["size_s"] };
    const schema = {
      $defs: { Tumbling: tumbling },
      properties: {
        window: { oneOf: [{ $ref: "#/$defs/Tumbling" }], discriminator: { propertyName: "kind" } },
        until: { oneOf: [{ $ref: "#/$defs/Tumbling" }] },
      },
      required: ["window"],
    };
    expect(initialValue(schema)).toEqual({ window: { kind: "tumbling", origin_s: 0 } });
  });
});

describe("pointers", () => {
  it("find the part that they are about", () => {
    const document = smallDocument();
    expect(targetOf("/query/operators/3/params/left_key", document)).toEqual({ part: "operator", id: "join", tab: "selection" });
    expect(targetOf("/query/edges/0/partitioning", document)).toMatchObject({ part: "edge", key: "persons.out>filter.in" });
    expect(targetOf("/cluster/hosts/1/cores", document)).toEqual({ part: "host", index: 1 });
    expect(targetOf("/workload/sources/persons/rate/per_s", document)).toMatchObject({ part: "operator", id: "persons" });
    expect(targetOf("/workload/warmup_s", document)).toEqual({ part: "panel", tab: "workload" });
    const faulty = { ...document, faults: [{ kind: "pause" }] };
    expect(targetOf("/faults/0/when/at_s", faulty)).toEqual({ part: "fault", index: 0 });
    expect(targetOf("/faults", faulty)).toEqual({ part: "faults" });
    expect(targetOf("/placement/kind", document)).toEqual({ part: "panel", tab: "policies" });
    expect(targetOf("", document)).toEqual({ part: "document" });
    expect(joinPointer("/a", ["b/c", 0])).toBe("/a/b~1c/0");
  });

  it("group problems by what the canvas marks", () => {
    const marks = problemsByPart([{ pointer: "/query/operators/0/kind", code: "x", message: "", severity: "error" }], smallDocument());
    expect([...marks.operators.keys()]).toEqual(["persons"]);
  });
});

describe("differences", () => {
  it("name every field that differs", () => {
    expect(differences({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3], c: 0 })).toEqual([
      { pointer: "/b/1", mine: 2, theirs: 3 },
      { pointer: "/c", mine: undefined, theirs: 0 },
    ]);
  });
});

it("lists of a fixed length are spelled as the form library knows them", () => {
  const pair = { type: "array", prefixItems: [{ type: "integer" }, { type: "number" }], minItems: 2, maxItems: 2 };
  const ready = formSchema({ type: "object", properties: { bounds: pair } });
  expect(ready.properties).toEqual({ bounds: { type: "array", items: [{ type: "integer" }, { type: "number" }], minItems: 2, maxItems: 2 } });
});
