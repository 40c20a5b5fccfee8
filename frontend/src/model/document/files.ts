/** Documents as files: YAML or JSON in, YAML or JSON out. */
import { parse, stringify } from "yaml";
import type { ExperimentDocument } from "../../api/document";
import { coerceDocument } from "./coerce";

export type FileFormat = "yaml" | "json";

/** Reads either format (JSON is YAML). Throws with the line when the text is neither. */
export function readDocument(text: string): ExperimentDocument {
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
  return coerceDocument(value);
}

export function writeDocument(document: ExperimentDocument, format: FileFormat): string {
  return format === "json"
    ? `${JSON.stringify(document, null, 2)}\n`
    : stringify(document, { lineWidth: 140, aliasDuplicateObjects: false });
}
