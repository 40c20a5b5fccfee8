/** The fields of an experiment that a study can vary: where they are, in words, and what stands there. */
import type { Json, JsonSchema, Kind } from "../../api/types";
import { branchesOf, deref, initialValue, labelOf, rangeOf, tagOf, unitOf } from "../document/schema";
import { joinPointer, pointerParts } from "../document/validate";
import type { Axis } from "./study";

export interface Field {
  pointer: string;
  label: string;
  /** Where it is, from the outside in. */
  path: string[];
  unit: string;
  range: string;
  description: string;
  /** What stands there, or what holds without it. */
  value: Json;
  /** The document says it itself. */
  given: boolean;
  type: "number" | "integer" | "boolean" | "string" | "kind";
  /** What else it can be: words, or kinds with their first values. */
  choices: Json[];
}

type Tree = { [name: string]: Json };
const isTree = (value: Json | undefined): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

/** Of a document, but no parameter of what is run: names, drawing, what belongs together, and the seed, which studies have their own of. */
const LEFT_OUT = new Set(["format", "name", "description", "ui", "id", "kind", "source", "target", "source_port", "target_port", "seed"]);
const DEPTH_MAX = 12;

/** All fields, in the order of the document. */
export function fieldsOf(document: Json, schema: JsonSchema | undefined, operators: ReadonlyMap<string, Kind>): Field[] {
  const found: Field[] = [];
  const root = schema ?? {};

  const visit = (value: Json | undefined, given: boolean, schema: JsonSchema, parts: (string | number)[], path: string[]) => {
    if (parts.length > DEPTH_MAX) return;
    const name = String(parts.at(-1) ?? "");
    const plain = unwrapped(root, schema);
    const { branches } = branchesOf(root, plain);
    const at = (type: Field["type"], choices: Json[] = []) =>
      found.push({
        pointer: joinPointer("", parts),
        label: typeof parts.at(-1) === "number" ? (path.at(-1) ?? name) : labelOf(name, plain),
        path: path.slice(0, -1),
        unit: unitOf(name, plain),
        range: rangeOf(plain),
        description: typeof plain.description === "string" ? (plain.description.split("\n")[0] ?? "") : "",
        value: value ?? null,
        given,
        type,
        choices,
      });
    if (isTree(value)) {
      if (branches.length && typeof value.kind === "string") at("kind", branches.map((branch) => initialValue(branch, root)));
      if (given) visitInside(value, branches.find((branch) => tagOf(branch, "kind") === value.kind) ?? plain, parts, path);
    } else if (Array.isArray(value)) {
      const items = isTree(plain.items) ? plain.items : {};
      // Entries without a name of their own (fields that are selected, say) mean nothing one by one.
      value.forEach((item, index) => isTree(item) && visit(item, given, items, [...parts, index], [...path, nameOf(item, index)]));
    } else if (typeof value === "number") at(plain.type === "integer" ? "integer" : "number");
    else if (typeof value === "boolean") at("boolean", [false, true]);
    else if (typeof value === "string") at("string", Array.isArray(plain.enum) ? plain.enum : []);
  };

  const visitInside = (value: Tree, schema: JsonSchema, parts: (string | number)[], path: string[]) => {
    const properties = isTree(schema.properties) ? schema.properties : {};
    const others = isTree(schema.additionalProperties) ? schema.additionalProperties : {};
    const own = operators.get(String(value.kind));
    const isOperator = parts.length === 3 && parts[1] === "operators";
    for (const name of new Set([...Object.keys(properties), ...Object.keys(value)])) {
      if (LEFT_OUT.has(name) && (name in properties || parts.length < 2)) continue;
      const declared = isTree(properties[name]) ? properties[name] : others;
      const inner: JsonSchema = isOperator && name === "params" && own ? own.schema : declared;
      const there = value[name] !== undefined && value[name] !== null;
      const holds = there ? value[name] : unwrapped(root, inner).default;
      const word = name in properties ? labelOf(name, unwrapped(root, inner)) : name;
      if (isOperator && name === "params") visitOperator((holds ?? {}) as Tree, inner, [...parts, name], path);
      else visit(holds, there, inner, [...parts, name], [...path, word]);
    }
  };

  /** Parameters belong to the operator: nobody looks for them one level deeper. */
  const visitOperator = (params: Tree, schema: JsonSchema, parts: (string | number)[], path: string[]) => {
    const properties = isTree(schema.properties) ? schema.properties : {};
    for (const name of new Set([...Object.keys(properties), ...Object.keys(params)])) {
      const declared = deref(schema, isTree(properties[name]) ? properties[name] : {});
      const there = params[name] !== undefined;
      visit(there ? params[name] : declared.default, there, declared, [...parts, name], [...path, labelOf(name, declared)]);
    }
  };

  if (isTree(document)) visitInside(document, deref(root, root), [], []);
  return found;
}

/** Without `null` beside it, and with what a reference leads to. */
function unwrapped(root: JsonSchema, schema: JsonSchema): JsonSchema {
  const plain = deref(root, schema);
  const some = Array.isArray(plain.anyOf) ? plain.anyOf.filter((one): one is JsonSchema => isTree(one) && one.type !== "null") : [];
  const [only] = some;
  if (some.length !== 1 || !only) return plain;
  const { anyOf: _, ...beside } = plain;
  return { ...deref(root, only), ...beside };
}

function nameOf(item: Json, index: number): string {
  if (!isTree(item)) return `${index + 1}`;
  const { id, name, source, target, kind } = item;
  const edge = typeof source === "string" && typeof target === "string" ? `${source} → ${target}` : undefined;
  const named = [id, name, edge, kind].find((one) => typeof one === "string" && one !== "");
  return typeof named === "string" ? named : `${index + 1}`;
}

/** The fields of an axis in the order in which it has them; those that the experiment does not have are known by their pointer only. */
export const fieldsAt = (all: readonly Field[], pointers: readonly string[]): Field[] =>
  pointers.map(
    (pointer) =>
      all.find((field) => field.pointer === pointer) ?? {
        pointer,
        label: pointerParts(pointer).at(-1) ?? pointer,
        path: [],
        unit: "",
        range: "",
        description: "",
        value: null,
        given: false,
        type: "string",
        choices: [],
      },
  );

/** The rates of all sources: what "more load" means. */
export const rateFields = (all: readonly Field[]): Field[] =>
  all.filter(({ pointer, type, given }) => {
    const parts = pointerParts(pointer);
    const ofRate = parts[0] === "workload" && parts[1] === "sources" && parts[3] === "rate";
    return ofRate && given && /(^|_)per_s$/.test(parts.at(-1) ?? "") && (type === "number" || type === "integer");
  });

const LOAD_FROM = 0.1;
const LOAD_TO = 10;

/** The axis of a search before somebody changes it: all rates together, from a tenth of what is there to ten times that. */
export const loadAxis = (all: readonly Field[]): Axis => ({
  name: "load",
  fields: rateFields(all).map(({ pointer }) => pointer),
  multiply: true,
  values: { kind: "between", from: LOAD_FROM, to: LOAD_TO },
});

/** A name as axes have them, that no other axis has. */
export function axisName(words: string, taken: readonly string[]): string {
  const plain = words
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "")
    .slice(0, NAME_LENGTH_MAX);
  const name = plain || "axis";
  for (let count = 1; ; count += 1) {
    const next = count === 1 ? name : `${name}_${count}`;
    if (!taken.includes(next)) return next;
  }
}
const NAME_LENGTH_MAX = 40;

/** Values to begin with: of a number itself and twice and four times that, of a choice all that there is. */
export function firstValues(field: Field): Json[] {
  const { value, choices } = field;
  if (typeof value === "number") return value > 0 ? [value, 2 * value, 4 * value] : [value, value + 1, value + 2];
  if (typeof value === "boolean" || (field.type === "string" && choices.length)) return choices;
  return [value];
}

/** An axis over these fields, as it begins. */
export function newAxis(fields: readonly Field[], taken: readonly string[]): Axis {
  const [first] = fields;
  return {
    name: axisName(first?.label ?? "axis", taken),
    fields: fields.map(({ pointer }) => pointer),
    values: { kind: "list", of: first ? firstValues(first) : [1, 2] },
  };
}
