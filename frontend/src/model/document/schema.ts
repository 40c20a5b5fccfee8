/** JSON Schemas of the registry, made ready for a form: labels, units, ranges, defaults. */
import type { Json, JsonSchema, Tagged } from "../../api/types";

const isSchema = (value: Json | undefined): value is JsonSchema => typeof value === "object" && value !== null && !Array.isArray(value);

/** Units by the end of a field's name, longest first. */
const UNITS: [suffix: string, unit: string][] = [
  ["_mbit_per_s", "Mbit/s"],
  ["_mb_per_s", "MB/s"],
  ["_bytes_per_s", "B/s"],
  ["_per_s", "rec/s"],
  ["_bytes", "B"],
  ["_mb", "MB"],
  ["_gb", "GB"],
  ["_ns", "ns"],
  ["_us", "µs"],
  ["_ms", "ms"],
  ["_s", "s"],
];

const WHOLE_NAME: { [name: string]: [label: string, unit: string] } = { per_s: ["Rate", "rec/s"] };

export function unitOf(name: string, schema?: JsonSchema): string {
  if (typeof schema?.["x-unit"] === "string") return schema["x-unit"];
  return WHOLE_NAME[name]?.[1] ?? UNITS.find(([suffix]) => name.endsWith(suffix))?.[1] ?? "";
}

/** "egress_mbit_per_s" is "Egress"; the unit stands in the field. A title that somebody wrote wins over the name. */
export function labelOf(name: string, schema?: JsonSchema): string {
  const automatic = name.replace(/_/g, " ").replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  if (typeof schema?.title === "string" && schema.title !== automatic && schema.title !== name) return schema.title;
  if (WHOLE_NAME[name]) return WHOLE_NAME[name][0];
  const suffix = UNITS.find(([end]) => name.endsWith(end) && name.length > end.length)?.[0] ?? "";
  const words = name.slice(0, name.length - suffix.length).replace(/_/g, " ");
  return words.replace(/^./, (letter) => letter.toUpperCase());
}

const number = (value: Json | undefined) => (typeof value === "number" ? value : undefined);

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10,000 as it is; powers of ten beyond a million, or below a thousandth, as 10⁹ and 10⁻⁶. */
export function bound(value: number): string {
  const size = Math.abs(value);
  const exponent = Math.round(Math.log10(size));
  if (size > 0 && (size >= 1e6 || size < 1e-3) && Math.abs(Math.log10(size) - exponent) < 1e-9) {
    const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPT[Number(digit)]).join("");
    return `${value < 0 ? "−" : ""}10${exponent < 0 ? "⁻" : ""}${digits}`;
  }
  return value.toLocaleString("en-US", { maximumFractionDigits: 9 });
}

/** "default 5, range 0.1 to 600": what the schema says about a number or a text, in words. */
export function rangeOf(schema: JsonSchema): string {
  const parts: string[] = [];
  const fallback = schema.default;
  if (typeof fallback === "number" || (typeof fallback === "string" && fallback !== "") || typeof fallback === "boolean") {
    parts.push(
      `default ${typeof fallback === "boolean" ? (fallback ? "on" : "off") : typeof fallback === "number" ? bound(fallback) : fallback.replace(/_/g, " ")}`,
    );
  }
  const low = number(schema.minimum);
  const above = number(schema.exclusiveMinimum);
  const highest = number(schema.maximum);
  // The largest whole number that JSON can hold says nothing to a person.
  const high = highest === Number.MAX_SAFE_INTEGER ? undefined : highest;
  const below = number(schema.exclusiveMaximum);
  if ((low ?? above) !== undefined && (high ?? below) !== undefined)
    parts.push(`${above !== undefined ? "above " : ""}${bound(low ?? above ?? 0)} to ${bound(high ?? below ?? 0)}`);
  else if (low !== undefined) parts.push(`at least ${bound(low)}`);
  else if (above !== undefined) parts.push(`above ${bound(above)}`);
  else if (high !== undefined) parts.push(`at most ${bound(high)}`);
  else if (below !== undefined) parts.push(`below ${bound(below)}`);
  return parts.join(", ");
}

function refTarget(root: JsonSchema, ref: string): JsonSchema {
  let at: Json | undefined = root;
  for (const part of ref.replace(/^#\//, "").split("/")) at = isSchema(at) ? at[part] : undefined;
  return isSchema(at) ? at : {};
}

/** Follows `$ref` and a single-entry `allOf`, keeping what stands beside them (title, default, description). */
export function deref(root: JsonSchema, schema: JsonSchema): JsonSchema {
  if (typeof schema.$ref === "string") {
    const { $ref, ...beside } = schema;
    return { ...deref(root, refTarget(root, $ref as string)), ...beside };
  }
  const only = Array.isArray(schema.allOf) && schema.allOf.length === 1 ? schema.allOf[0] : undefined;
  if (isSchema(only)) {
    const { allOf: _, ...beside } = schema;
    return { ...deref(root, only), ...beside };
  }
  return schema;
}

/** The part of the document's schema at a path: names of properties, "*" for the items of a list. */
export function schemaAt(root: JsonSchema | undefined, path: string[]): JsonSchema | undefined {
  if (!root) return undefined;
  let at: JsonSchema = deref(root, root);
  for (const part of path) {
    const next: Json | undefined = part === "*" ? at.items : isSchema(at.properties) ? at.properties[part] : undefined;
    if (!isSchema(next)) return undefined;
    at = deref(root, next);
    const optional = Array.isArray(at.anyOf) ? at.anyOf.filter((one) => isSchema(one) && one.type !== "null") : [];
    if (optional.length === 1 && isSchema(optional[0]))
      at = { ...deref(root, optional[0]), ...("default" in at ? { default: at.default ?? null } : {}) };
  }
  return { ...at, ...(isSchema(root.$defs) && !at.$defs ? { $defs: root.$defs } : {}) };
}

/**
 * Makes a pydantic schema fit for the form: nullable unions become plain fields, `const` fields (the tag of a tagged
 * union) are hidden by their template, OpenAPI's discriminator mapping is dropped (the form finds the branch by the const).
 */
export function formSchema(schema: JsonSchema, omit: readonly string[] = []): JsonSchema {
  const walk = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isSchema(value)) return value;
    let node: JsonSchema = value;
    if (Array.isArray(node.anyOf) && node.anyOf.length === 2 && node.anyOf.some((one) => isSchema(one) && one.type === "null")) {
      const { anyOf, default: fallback, ...beside } = node;
      const plain = (anyOf as Json[]).find((one) => isSchema(one) && one.type !== "null");
      node = {
        ...(isSchema(plain) ? plain : {}),
        ...beside,
        ...(fallback === null || fallback === undefined ? {} : { default: fallback }),
      };
    }
    // The form library knows lists of a fixed length by the older spelling.
    if (Array.isArray(node.prefixItems)) {
      const { prefixItems, ...beside } = node;
      node = { ...beside, items: prefixItems ?? [] };
    }
    return Object.fromEntries(
      Object.entries(node).map(([name, child]) => {
        if (name === "discriminator" && isSchema(child)) return [name, { propertyName: child.propertyName ?? "kind" }];
        return [name, name === "default" || name === "const" || name === "enum" ? child : walk(child)];
      }),
    );
  };
  const out = walk(schema) as JsonSchema;
  if (isSchema(out.properties) && omit.length) {
    out.properties = Object.fromEntries(Object.entries(out.properties).filter(([name]) => !omit.includes(name)));
    if (Array.isArray(out.required)) out.required = out.required.filter((name) => !omit.includes(String(name)));
  }
  return out;
}

/** The schemas of a tagged union's kinds; none if the field is no such union. */
export function branchesOf(root: JsonSchema, field: JsonSchema): { tag: string; branches: JsonSchema[] } {
  const tag = (field.discriminator as { propertyName?: string } | undefined)?.propertyName ?? "kind";
  const branches = (Array.isArray(field.oneOf) ? field.oneOf : []).filter(isSchema).map((branch) => deref(root, branch));
  return { tag, branches: branches.filter((branch) => tagOf(branch, tag) !== undefined) };
}

/** The value of a branch's tag. */
export const tagOf = (branch: JsonSchema, tag: string): Json | undefined =>
  (branch.properties as { [name: string]: JsonSchema } | undefined)?.[tag]?.const;

/** The first value of a form: the schema's defaults, and for a required union without a default the kind that the form shows first. */
export function initialValue(schema: JsonSchema, root: JsonSchema = schema): { [field: string]: Json } {
  const resolved = deref(root, schema);
  const required = Array.isArray(resolved.required) ? resolved.required : [];
  const value: { [field: string]: Json } = {};
  for (const [name, raw] of Object.entries(isSchema(resolved.properties) ? resolved.properties : {})) {
    if (!isSchema(raw)) continue;
    const field = deref(root, raw);
    if (field.const !== undefined) value[name] = field.const;
    else if (field.default !== undefined && field.default !== null) value[name] = structuredClone(field.default);
    else if (required.includes(name)) {
      const first = branchesOf(root, field).branches[0];
      if (first) value[name] = initialValue(first, root);
    }
  }
  return value;
}

/** Few people change it: forms fold it with others of its kind. */
export const isAdvanced = (schema: JsonSchema | undefined) => schema?.["x-advanced"] === true;

/** How many fields a part of a form has, and how many of them the value changes from their default. */
export function countFields(
  root: JsonSchema,
  schema: JsonSchema,
  value: Json | undefined,
  fallback: Json | undefined = schema.default,
): { fields: number; changed: number } {
  const { properties } = deref(root, schema);
  if (!isSchema(properties)) {
    const isChanged = value !== undefined && JSON.stringify(value) !== JSON.stringify(fallback ?? null);
    return { fields: 1, changed: isChanged ? 1 : 0 };
  }
  const inside = (whole: Json | undefined, name: string) => (isSchema(whole) ? whole[name] : undefined);
  const counts = Object.entries(properties)
    .filter((entry): entry is [string, JsonSchema] => isSchema(entry[1]) && entry[1].const === undefined)
    .map(([name, own]) => countFields(root, own, inside(value, name), inside(fallback, name) ?? own.default));
  return counts.reduce((all, one) => ({ fields: all.fields + one.fields, changed: all.changed + one.changed }), { fields: 0, changed: 0 });
}

export function propertyNames(schema: JsonSchema | undefined): string[] {
  return schema && isSchema(schema.properties) ? Object.keys(schema.properties) : [];
}

/** The default of a tagged field, if its schema has one. */
export const taggedDefault = (schema: { [key: string]: Json } | undefined, name: string): Tagged | undefined => {
  const field = (schema?.properties as { [name: string]: JsonSchema } | undefined)?.[name];
  return (field?.default as Tagged | undefined) ?? undefined;
};
