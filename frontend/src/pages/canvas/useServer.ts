/** Keeps the open document and the server together: validation while editing, autosave after it. */
import { useEffect } from "react";
import { ApiError, post, put } from "../../api/client";
import { experimentWrites } from "../../api/queries";
import type { ExperimentRecord, Json, Validation } from "../../api/types";
import { coerceDocument } from "../../model/document/coerce";
import { named } from "../../model/document/naming";
import { toast } from "../../ui/toasts";
import { dropDraft, keepDraft } from "./drafts";
import { applyValidation, edit, useEditor } from "./editor";
import { useRegistry } from "./useRegistry";

const VALIDATE_AFTER_MS = 250;
export const SAVE_AFTER_MS = 1000;
const RETRY_SAVE_MS = 5000;

/** Asks for the problems a moment after each edit; an older question is dropped. */
export function useValidation(): void {
  const document = useEditor((state) => state.document);
  const id = useEditor((state) => state.id);
  const { schema, kinds } = useRegistry();
  useEffect(() => {
    if (!id) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const answer = await post<Validation>("/api/validate", { document }, controller.signal);
        applyValidation(document, { ...answer, problems: answer.problems.map((one) => named(one, document, schema, kinds)) });
      } catch {
        // The save bar already says that the server is away; the problems stay as they were.
      }
    }, VALIDATE_AFTER_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [document, id, schema, kinds]);
}

/** The newest version that the server confirmed, by experiment: it outlives the page that asked for it. */
const confirmed = new Map<string, number>();

/**
 * Saves what is unsaved at this moment, also when its page is being left. Saves never overlap, so versions count up one by one.
 */
export function saveNow(): Promise<void> {
  const { id, document, version, save } = useEditor.getState();
  if (!id || (save !== "dirty" && save !== "failed")) return experimentWrites.last;
  const isOpen = () => useEditor.getState().id === id;
  experimentWrites.last = experimentWrites.last.then(async () => {
    if (isOpen()) useEditor.setState({ save: "saving" });
    try {
      const newest = Math.max(version, confirmed.get(id) ?? 0);
      const saved = await put<ExperimentRecord>(`/api/experiments/${id}`, { version: newest, document });
      confirmed.set(id, saved.version);
      dropDraft(id);
      if (!isOpen()) return;
      const clean = useEditor.getState().document === document;
      useEditor.setState({ version: saved.version, save: clean ? "saved" : "dirty", savedAt: new Date(), saveError: "" });
    } catch (error) {
      keepDraft(id, { version, document: isOpen() ? useEditor.getState().document : document });
      if (!isOpen()) {
        toast(`The last edit could not be saved: ${messageOf(error)}`, { tone: "err" });
        return;
      }
      if (error instanceof ApiError && error.status === 409) {
        const theirs = error.body as { version: number; document: Json };
        useEditor.setState({ save: "conflict", conflict: { version: theirs.version, document: theirs.document } });
      } else {
        useEditor.setState({ save: "failed", saveError: messageOf(error) });
      }
    }
  });
  return experimentWrites.last;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** One second after the last edit; again every five seconds while saving fails; at once when the page goes away. */
export function useAutosave(): void {
  const document = useEditor((state) => state.document);
  const save = useEditor((state) => state.save);
  useEffect(() => {
    if (save !== "dirty" && save !== "failed") return;
    const timer = setTimeout(() => void saveNow(), save === "dirty" ? SAVE_AFTER_MS : RETRY_SAVE_MS);
    return () => clearTimeout(timer);
  }, [document, save]);
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      const { save, id, version, document } = useEditor.getState();
      if (save === "saved") return;
      keepDraft(id, { version, document });
      void saveNow();
      event.preventDefault();
    };
    window.addEventListener("beforeunload", leave);
    return () => window.removeEventListener("beforeunload", leave);
  }, []);
}

export function keepMine(): void {
  const { conflict } = useEditor.getState();
  if (!conflict) return;
  useEditor.setState({ version: conflict.version, conflict: null, save: "dirty" });
  void saveNow();
}

/** Their document replaces ours as one undo step, so nothing is lost. */
export function takeTheirs(): void {
  const { conflict } = useEditor.getState();
  if (!conflict) return;
  dropDraft(useEditor.getState().id);
  edit(() => coerceDocument(conflict.document));
  useEditor.setState({ version: conflict.version, conflict: null, save: "saved", savedAt: new Date() });
}
