/** Problems in the words of the forms: whose they are, and the label of their field instead of its name in the document. */
import type { ExperimentDocument } from "../../api/document";
import type { Json, JsonSchema, Kind, Problem } from "../../api/types";
import { endsOf } from "./regions";
import { branchesOf, deref, labelOf, tagOf } from "./schema";
import { pointerParts, targetOf } from "./validate";

export type NamedProblem = Problem & {
  /** What has the problem, as the canvas names it: an operator's id, say. */
  subject?: string;
};

/** The whole sentence, for a place where the subject is not on the page already. */
export const sentenceOf = ({ subject, message }: NamedProblem) =>
  subject && !message.includes(subject) ? `${subject}: ${message}` : message;

interface Place {
  label: string;
  schema: JsonSchema;
  /** A field that its form has to hold, and that is not there. */
  lacks: boolean;
  /** Labels of the fields of its form by name; of an entry of a list, its own. */
  beside: Map<string, string>;
}

/** Editors in which a value is chosen rather than written. */
const CHOSEN = new Set(["field", "host", "region", "operator", "dataset", "dataset-column", "kind", "input-port", "metric"]);

export function named(
  problem: Problem,
  document: ExperimentDocument,
  root: JsonSchema | undefined,
  kinds: Map<string, Kind>,
): NamedProblem {
  const parts = pointerParts(problem.pointer);
  const isKind = parts.at(-1) === "kind";
  const place = root && placeAt(isKind ? parts.slice(0, -1) : parts, document, root, kinds);
  const name = parts.at(-1) ?? "";
  const subject = subjectOf(problem.pointer, document);
  const { message } = problem;
  if (place && problem.code === "missing" && (place.lacks || isKind)) return { ...problem, subject, message: asked(place, isKind) };
  if (!place) return { ...problem, subject };
  const own = message.startsWith(`${name} `) ? place.label + message.slice(name.length) : message;
  return { ...problem, subject, message: withLabels(own, place.beside) };
}

/** Names of other fields of the form, where they cannot be words of a sentence. */
const withLabels = (message: string, labels: Map<string, string>) =>
  message.replace(/\b[a-z]+_[a-z_]+\b/g, (name) => labels.get(name) ?? name);

function asked({ label, schema }: Place, isKind: boolean): string {
  const words = label.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
  if (schema.type === "array") return `add ${words}`;
  const chosen = isKind || CHOSEN.has(String(schema["x-editor"])) || schema.enum !== undefined || schema.oneOf !== undefined;
  return `${chosen ? "choose" : "enter"} ${/^[aeiou]/.test(words) ? "an" : "a"} ${words}`;
}

function subjectOf(pointer: string, document: ExperimentDocument): string {
  const target = targetOf(pointer, document);
  if (target.part === "operator") return target.id;
  if (target.part === "edge") return `${target.source} → ${target.target}`;
  if (target.part === "host") return document.cluster.hosts[target.index]?.name ?? "";
  if (target.part === "region-link") return endsOf(document.cluster.region_links?.[target.index] ?? {});
  if (target.part === "fault") return `Fault ${target.index + 1}`;
  const [room = "", part] = pointerParts(pointer);
  if (room === "policies" && part) return labelOf(part);
  return target.part === "panel" ? labelOf(room === "cluster" ? "network" : room) : "";
}

/** The field at a path of the document, by the schema of the document and of the kinds that it names. */
function placeAt(parts: string[], document: ExperimentDocument, root: JsonSchema, kinds: Map<string, Kind>): Place | undefined {
  let [defs, schema]: [JsonSchema, JsonSchema] = [root, root];
  let value: Json | undefined = document as unknown as Json;
  let place: Place | undefined;
  for (const [at, part] of parts.entries()) {
    const kind: Kind | undefined =
      parts[1] === "operators" && at === 3 ? kinds.get((value as { kind?: string } | undefined)?.kind ?? "") : undefined;
    const holder = branchFor(defs, schema, value);
    const isEntry = holder.type === "array";
    const properties = (holder.properties ?? {}) as { [name: string]: JsonSchema };
    const own = properties[part];
    const next = isEntry ? holder.items : (own ?? holder.additionalProperties);
    value = typeof value === "object" && value !== null ? (value as { [name: string]: Json })[part] : undefined;
    if (kind && part === "params") [defs, schema] = [kind.schema, kind.schema];
    else if (typeof next === "object" && next !== null && !Array.isArray(next)) schema = next;
    else return undefined;
    const plain = withoutNull(defs, schema);
    const fields = isEntry ? ((plain.properties ?? {}) as typeof properties) : properties;
    const required = Array.isArray(holder.required) && holder.required.includes(part);
    place = {
      label: isEntry ? `${place?.label ?? "entry"} ${Number(part) + 1}` : own ? labelOf(part, plain) : part,
      schema: plain,
      lacks: required && value === undefined,
      beside: new Map(Object.entries(fields).map(([name, field]) => [name, labelOf(name, withoutNull(defs, field))])),
    };
  }
  return place;
}

function withoutNull(defs: JsonSchema, schema: JsonSchema): JsonSchema {
  const plain = deref(defs, schema);
  const [only, ...more] = Array.isArray(plain.anyOf) ? (plain.anyOf as JsonSchema[]).filter((one) => one.type !== "null") : [];
  return only && !more.length ? { ...deref(defs, only), ...plain } : plain;
}

/** The schema of the value's own kind, where there are several; of the first where it does not say. */
function branchFor(defs: JsonSchema, schema: JsonSchema, value: Json | undefined): JsonSchema {
  const plain = withoutNull(defs, schema);
  const { tag, branches } = branchesOf(defs, { ...plain, oneOf: plain.oneOf ?? plain.anyOf ?? [] });
  const kind = (value as { [name: string]: Json } | null | undefined)?.[tag];
  return branches.find((branch) => tagOf(branch, tag) === kind) ?? branches[0] ?? plain;
}
