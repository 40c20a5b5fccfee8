/** Keeps the open document and the server together: validation while editing, autosave after it. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { ApiError, get, post, put } from "../../api/client";
import { setOpened } from "../../api/opened";
import { experimentWrites, savedQuery } from "../../api/queries";
import type { ExperimentRecord, Validation } from "../../api/types";
import { PAGE } from "../../lib/page";
import { coerceDocument } from "../../model/document/coerce";
import { named } from "../../model/document/naming";
import { isError } from "../../model/document/validate";
import { toast } from "../../ui/toasts";
import { dropDraft, keepDraft } from "./drafts";
import { applyValidation, edit, useEditor, type Conflict } from "./editor";
import { useRegistry } from "./useRegistry";

const VALIDATE_AFTER_MS = 250;
export const SAVE_AFTER_MS = 1000;
const RETRY_SAVE_MS = 5000;
export const CHOOSE_FIRST = "A newer version of this experiment was saved elsewhere. Choose a version first.";

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
      const saved = await put<ExperimentRecord>(`/api/experiments/${id}`, { version: newest, document, editor: PAGE });
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
        const { version, document, saved } = error.body as Conflict;
        useEditor.setState({ save: "conflict", conflict: { version, document, saved } });
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

/**
 * Reads the experiment again: a newer version that was saved elsewhere becomes a conflict, or takes its place without a word if it has the
 * same document. Own saves come first, so that none of them is taken for somebody else's. told: the version that there is said to be.
 */
export async function readTheirs(told = Infinity): Promise<void> {
  const { id } = useEditor.getState();
  await experimentWrites.last;
  if (told <= useEditor.getState().version) return;
  let record: ExperimentRecord;
  try {
    record = await get<ExperimentRecord>(`/api/experiments/${id}`);
  } catch {
    return; // the next save says what is wrong
  }
  const { id: now, version, document, save } = useEditor.getState();
  if (now !== id || record.version <= version) return;
  if (JSON.stringify(coerceDocument(record.document)) === JSON.stringify(document))
    return useEditor.setState({ version: record.version, conflict: null, save: "saved", savedAt: new Date(record.updated_at) });
  useEditor.setState({
    save: save === "saved" ? "saved" : "conflict",
    conflict: { version: record.version, document: record.document, saved: record.saved },
  });
}

/** Tells others that the experiment is open here, and hears at once when one of them has saved it. */
export function useOthers(): void {
  const id = useEditor((state) => state.id);
  const version = useEditor((state) => state.version);
  const { data: saved } = useQuery(savedQuery(id));
  useEffect(() => {
    setOpened(id);
    return () => setOpened(null);
  }, [id]);
  const newest = saved?.number ?? 0;
  useEffect(() => {
    if (newest > version) void readTheirs(newest);
  }, [newest, version]);
}

export function keepMine(): void {
  const { conflict } = useEditor.getState();
  if (!conflict) return;
  useEditor.setState({ version: conflict.version, conflict: null, save: "dirty" });
  void saveNow();
}

export function takeTheirs(): void {
  const { conflict } = useEditor.getState();
  if (conflict) takeSaved(conflict);
}

/** A version that is saved already replaces what is open, as one undo step, so nothing is lost. */
function takeSaved({ version, document, saved }: Conflict): void {
  dropDraft(useEditor.getState().id);
  edit(() => coerceDocument(document));
  useEditor.setState({ version, conflict: null, save: "saved", savedAt: new Date(saved.saved_at) });
}

/** An earlier version becomes the newest one. What is unsaved here is saved first, so that it is in the history, too. */
export async function restoreVersion(number: number): Promise<void> {
  await saveNow();
  const { id, version, save, conflict } = useEditor.getState();
  if (conflict) return void toast(CHOOSE_FIRST, { tone: "warn" });
  if (save !== "saved") return void toast("Your last edits are not saved yet; restore once they are.", { tone: "warn" });
  try {
    const restoring = post<ExperimentRecord>(`/api/experiments/${id}/versions/${number}/restore`, { version, editor: PAGE });
    experimentWrites.last = restoring.then(
      () => undefined,
      () => undefined,
    );
    const record = await restoring;
    confirmed.set(id, record.version);
    if (useEditor.getState().id !== id) return;
    takeSaved(record);
    const errors = record.problems.filter(isError);
    toast(`Version ${number} restored.${errors.length ? ` It cannot run as it is: ${errors[0]?.message}.` : " Undo brings back your edits."}`, {
      tone: errors.length ? "warn" : "plain",
    });
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return readTheirs();
    toast(`Version ${number} could not be restored: ${messageOf(error)}`, { tone: "err" });
  }
}
