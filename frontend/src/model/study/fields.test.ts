import { describe, expect, it } from "vitest";
import type { JsonSchema, Kind } from "../../api/types";
import { axisName, fieldsOf, firstValues, loadAxis, newAxis, type Field } from "./fields";
import { readNumbers, readValues, writeValues } from "./values";

const number = (more: JsonSchema = {}): JsonSchema => ({ type: "number", ...more });
const rate = (kind: string, properties: JsonSchema): JsonSchema => ({ type: "object", properties: { kind: { const: kind }, ...properties } });
const schema: JsonSchema = {
  properties: {
    name: { type: "string" },
    query: { $ref: "#/$defs/Query" },
    cluster: {
      properties: {
        hosts: { type: "array", items: { properties: { name: { type: "string" }, count: { type: "integer", default: 1, minimum: 1 }, speed: number({ default: 1 }) } } },
      },
    },
    workload: {
      properties: {
        seed: { type: "integer" },
        horizon_s: number({ description: "How long." }),
        sources: { additionalProperties: { properties: { rate: { $ref: "#/$defs/Rate" } } } },
      },
    },
    policies: { properties: { flow_control: { $ref: "#/$defs/Flow", default: { kind: "unbounded" } } } },
  },
  $defs: {
    Query: { properties: { operators: { type: "array", items: { properties: { id: {}, kind: {}, parallelism: { type: "integer" }, params: {} } } } } },
    Rate: {
      discriminator: { propertyName: "kind" },
      oneOf: [{ $ref: "#/$defs/Constant" }, rate("cosine", { mean_per_s: number(), amplitude_per_s: number(), period_s: number() })],
    },
    Constant: rate("constant", { per_s: number({ "x-unit": "records/s" }) }),
    Flow: {
      discriminator: { propertyName: "kind" },
      oneOf: [rate("unbounded", {}), rate("credits", { per_channel: { type: "integer", default: 8 } })],
    },
  },
};
const window: Kind = {
  kind: "window",
  title: "Window",
  family: "operators",
  group: "",
  icon: "",
  doc: "",
  source: "",
  schema: { properties: { size_s: number({ title: "Size", default: 10 }) } },
  inputs: ["in"],
  outputs: ["out"],
};
const document = {
  name: "x",
  query: { operators: [{ id: "count", kind: "window", parallelism: 2, params: { size_s: 5 } }] },
  cluster: { hosts: [{ name: "w", count: 4 }] },
  workload: {
    seed: 1,
    horizon_s: 30,
    sources: {
      a: { rate: { kind: "constant", per_s: 100 } },
      b: { rate: { kind: "cosine", mean_per_s: 5, amplitude_per_s: 3, period_s: 9 } },
    },
  },
  policies: {},
};
const fields = fieldsOf(document, schema, new Map([["window", window]]));
const at = (pointer: string) => fields.find((field) => field.pointer === pointer) as Field;

describe("fields of an experiment", () => {
  it("have a place in words, a unit and what stands there", () => {
    expect(at("/query/operators/0/params/size_s")).toMatchObject({ label: "Size", path: ["Query", "Operators", "count"], unit: "s", value: 5, given: true });
    expect(at("/cluster/hosts/0/count")).toMatchObject({ label: "Count", path: ["Cluster", "Hosts", "w"], value: 4, type: "integer" });
    expect(at("/workload/sources/a/rate/per_s")).toMatchObject({ label: "Rate", unit: "records/s", value: 100 });
    expect(at("/workload/horizon_s").description).toBe("How long.");
  });
  it("are also those that hold without being said", () => {
    expect(at("/cluster/hosts/0/speed")).toMatchObject({ value: 1, given: false });
    expect(at("/policies/flow_control")).toMatchObject({ type: "kind", value: { kind: "unbounded" }, given: false });
  });
  it("leave out names, seeds and tags", () => {
    for (const gone of ["/name", "/workload/seed", "/query/operators/0/id", "/query/operators/0/kind", "/workload/sources/a/rate/kind"])
      expect(at(gone)).toBeUndefined();
  });
  it("offer the kinds that a choice has, with their first values", () => {
    expect(at("/policies/flow_control").choices).toEqual([{ kind: "unbounded" }, { kind: "credits", per_channel: 8 }]);
  });
  it("survive a document of which the schema says nothing", () => {
    expect(fieldsOf({ query: [1, { x: null }], y: "z" }, undefined, new Map()).map(({ pointer }) => pointer)).toEqual(["/y"]);
    expect(fieldsOf(null, schema, new Map())).toEqual([]);
  });
});

describe("axes as they begin", () => {
  it("multiply all rates when a load is searched for", () => {
    expect(loadAxis(fields)).toMatchObject({
      multiply: true,
      fields: ["/workload/sources/a/rate/per_s", "/workload/sources/b/rate/mean_per_s", "/workload/sources/b/rate/amplitude_per_s"],
    });
  });
  it("have a name that no other has, and values of the field's type", () => {
    expect(newAxis([at("/cluster/hosts/0/count")], ["count"])).toEqual({
      name: "count_2",
      fields: ["/cluster/hosts/0/count"],
      values: { kind: "list", of: [4, 8, 16] },
    });
    expect(axisName("9 Größe, s", [])).toBe("gr_e_s");
    expect(firstValues(at("/policies/flow_control"))).toEqual([{ kind: "unbounded" }]);
  });
});

describe("values in one line", () => {
  it("are read as they were written", () => {
    for (const values of [[1, 2.5], [true, "on", "1"], ["a b", "x-y", ""], [{ kind: "credits", per_channel: 8, deep: [1, "2"] }, null]])
      expect(readValues(writeValues(values))).toEqual(values);
  });
  it("say what is wrong", () => {
    expect(readValues(" ")).toEqual([]);
    expect(() => readValues("{a: ")).toThrow("separated by commas");
    expect(() => readNumbers("1, x")).toThrow('"x" is not a number');
    expect(readNumbers("1, 2,3")).toEqual([1, 2, 3]);
  });
});
