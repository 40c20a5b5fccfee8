import { useCallback, useEffect, useRef, useState } from "react";
import { moveOperators } from "../../../model/document/edits";
import { toast } from "../../../ui/toasts";
import { edit, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { arranged } from "./arrange";

/** Starts the auto-layout, one step of undo; asked again while it works, stops it. `after` is called when operators were moved. */
export function useArrange(after: () => void): { isArranging: boolean; arrange: () => void } {
  const { kinds } = useRegistry();
  const work = useRef<AbortController | null>(null);
  const [isArranging, setArranging] = useState(false);
  useEffect(() => () => work.current?.abort(), []);

  const arrange = useCallback(() => {
    if (work.current) return work.current.abort();
    const mine = new AbortController();
    work.current = mine;
    setArranging(true);
    void arranged(useEditor.getState().document, kinds, mine.signal)
      .then((positions) => {
        edit((before) => moveOperators(before, positions));
        setTimeout(after, 50);
      })
      .catch((error: unknown) => {
        if (!mine.signal.aborted) toast(`The layout failed. ${error instanceof Error ? error.message : String(error)}`, { tone: "err" });
      })
      .finally(() => {
        work.current = null;
        setArranging(false);
      });
  }, [kinds, after]);
  return { isArranging, arrange };
}
