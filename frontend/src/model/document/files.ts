/** Documents as files: YAML or JSON in, YAML or JSON out. */
import { parse, stringify } from "yaml";
import type { ExperimentDocument } from "../../api/document";
import { coerceDocument } from "./coerce";
import { escapePointer } from "./validate";

/** The largest text that can be a document, in characters (the server's limit is in bytes). */
export const TEXT_LENGTH_MAX = 1_000_000;

export type FileFormat = "yaml" | "json";

/** Whether a text can only be Python: a line that begins with an import or an assignment. */
export const isPython = (text: string) => /^(import |from \w+ import |[A-Za-z_]\w* = )/m.test(text);

/** Reads either format (JSON is YAML). Throws with the line when the text is neither. */
export function readDocument(text: string): ExperimentDocument {
  refuseTooLong(text);
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "").replace(/:$/, ".") : String(error);
    throw new Error(`This is neither YAML nor JSON: ${why}`, { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || !("query" in value)) {
    throw new Error("This file is not an experiment: the top level must be a mapping with the field 'query'.");
  }
  const infinite = infiniteNumber(value);
  if (infinite !== null) throw new Error(`${infinite || "/"} is not a finite number; write one that is.`);
  return coerceDocument(value);
}

/** Throws when no document is as long as the text. */
export function refuseTooLong(text: string): void {
  const [has, most] = [text.length, TEXT_LENGTH_MAX].map((count) => count.toLocaleString("en-US"));
  if (text.length > TEXT_LENGTH_MAX) throw new Error(`The text has ${has} characters; a document has at most ${most}.`);
}

/** The pointer of a number that JSON cannot carry (1e400, .nan), null without one: on its way to the server it would become null. */
function infiniteNumber(value: unknown, pointer = ""): string | null {
  if (typeof value === "number") return Number.isFinite(value) ? null : pointer;
  if (typeof value !== "object" || value === null) return null;
  for (const [name, item] of Object.entries(value)) {
    const found = infiniteNumber(item, `${pointer}/${escapePointer(name)}`);
    if (found !== null) return found;
  }
  return null;
}

export function writeDocument(document: ExperimentDocument, format: FileFormat): string {
  return format === "json"
    ? `${JSON.stringify(document, null, 2)}\n`
    : stringify(document, { lineWidth: 140, aliasDuplicateObjects: false });
}
