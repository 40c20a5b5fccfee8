import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, put } from "../../api/client";
import { notesQuery } from "../../api/queries";
import type { Run } from "../../api/types";
import { WriteArea } from "../../session/may";
import { Failure, Loading } from "../../ui/states";

/** Stored so long after the last letter. */
const SAVE_AFTER_MS = 800;
const LENGTH_MAX = 20_000;

/** What people say of the run, edited where it stands; stored by itself. */
export function Notes({ run, gone }: { run: Run; gone: boolean }) {
  const { data, error, refetch } = useQuery(notesQuery(run.id));
  if (data) return <Editor key={run.id} run={run} gone={gone} stored={data.notes} />;
  return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading lines={3} />;
}

function Editor({ run, gone, stored }: { run: Run; gone: boolean; stored: string }) {
  const client = useQueryClient();
  const [text, setText] = useState(stored);
  const [theirs, setTheirs] = useState<string | null>(null);
  const [trouble, setTrouble] = useState("");
  const draft = useRef({ text: stored, was: stored, busy: false });
  const save = useCallback(async () => {
    const { current } = draft;
    if (current.busy) return;
    current.busy = true;
    try {
      // What is typed while some of it is being stored follows.
      while (current.text.trim() !== current.was) {
        const { notes } = await put<{ notes: string }>(`/api/runs/${run.id}/notes`, { text: current.text, was: current.was });
        current.was = notes;
        setTrouble("");
        client.setQueryData(notesQuery(run.id).queryKey, { notes });
        void client.invalidateQueries({ queryKey: ["runs"] });
      }
    } catch (error) {
      const now = error instanceof ApiError && error.status === 409 ? (error.body as { notes?: string }).notes : undefined;
      if (now === undefined) setTrouble(error instanceof Error ? error.message : String(error));
      else setTheirs(now);
    } finally {
      current.busy = false;
    }
  }, [client, run.id]);
  useEffect(() => {
    draft.current.text = text;
    if (theirs !== null || text.trim() === draft.current.was) return;
    const timer = setTimeout(() => void save(), SAVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, theirs, save]);
  // What was typed last is stored when the page or the tab is left.
  useEffect(() => () => void save(), [save]);
  // Somebody else's words come in where nothing is being typed.
  useEffect(() => {
    const { current } = draft;
    if (current.busy || stored === current.was || current.text.trim() !== current.was) return;
    draft.current = { text: stored, was: stored, busy: false };
    setText(stored);
  }, [stored]);
  const take = (which: string) => {
    draft.current.was = theirs ?? "";
    draft.current.text = which;
    setText(which);
    setTheirs(null);
    void save();
  };
  const pending = text.trim() !== stored;
  return (
    <WriteArea className="notes">
      <textarea
        aria-label={`Notes on run ${run.number}`}
        placeholder="Notes. Search for them with note:word in the list of runs."
        maxLength={LENGTH_MAX}
        value={text}
        readOnly={gone}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => theirs === null && void save()}
      />
      {theirs !== null ? (
        <div className="theirs" role="alert">
          <p>
            Someone else changed the notes in the meantime: <q>{theirs || "(none)"}</q>
          </p>
          <span>
            <button className="btn" onClick={() => take(theirs)}>
              Take theirs
            </button>
            <button className="btn primary" onClick={() => take(text)}>
              Keep mine
            </button>
          </span>
        </div>
      ) : (
        <p className="mut small" role="status">
          {trouble ? `Not saved: ${trouble}` : pending ? "Not saved yet" : stored ? "Saved; visible to the whole lab" : "Notes are visible to the whole lab"}
        </p>
      )}
    </WriteArea>
  );
}
