/** Study documents as files. */
import { parse, stringify } from "yaml";
import type { StudyDocument } from "./study";

/** Reads YAML or JSON. Throws with a sentence when the text is no study. */
export function readStudy(text: string): StudyDocument {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new Error(`This is neither YAML nor JSON: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`, { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || !("experiment" in value))
    throw new Error("This file is not a study: the top level must be a mapping with the field 'experiment'.");
  return value as StudyDocument;
}

export const writeStudy = (study: StudyDocument): string => stringify(study, { lineWidth: 140, aliasDuplicateObjects: false });
