/** Edits that could not be saved, kept in this browser until they are: also when the page is closed or the session has ended. */
import type { ExperimentDocument } from "../../api/document";
import { coerceDocument } from "../../model/document/coerce";

export interface Draft {
  /** The server's version that was edited. */
  version: number;
  document: ExperimentDocument;
}

const keyOf = (id: string) => `millrace.draft.${id}`;

export function keepDraft(id: string, draft: Draft): void {
  try {
    localStorage.setItem(keyOf(id), JSON.stringify(draft));
  } catch {
    // A full store keeps no draft; the page still holds the edits, and says that they are not saved.
  }
}

export const dropDraft = (id: string) => localStorage.removeItem(keyOf(id));

export function draftOf(id: string): Draft | null {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(id)) ?? "null") as Draft | null;
    return kept && typeof kept.version === "number" ? { version: kept.version, document: coerceDocument(kept.document) } : null;
  } catch {
    return null;
  }
}
