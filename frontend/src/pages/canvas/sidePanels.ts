import { useEffect } from "react";
import { isEmpty, useEditor, type Editor } from "./editor";

/** Too narrow for a panel at each side of the stage. Below 900 px the inspector stands below the stage. */
const ROOM_FOR_ONE = "(min-width: 900px) and (max-width: 1099px)";

type Sides = Pick<Editor, "paletteOpen" | "inspectorOpen">;
export type SideState = Sides & Pick<Editor, "selection">;

/** What has to fold, or to come back, where there is room for one side panel: the one opened last stays, and what is chosen is shown.
 * isAdding: the selection is a part that is just being added, as a rule from the palette, which then stays open for the next one. */
export function oneSide(now: SideState, before: SideState, isAdding: boolean): Sides | null {
  if (now.paletteOpen && now.inspectorOpen)
    return before.paletteOpen ? { paletteOpen: false, inspectorOpen: true } : { paletteOpen: true, inspectorOpen: false };
  const isChosen = now.selection !== before.selection && !isEmpty(now.selection);
  return now.paletteOpen && isChosen && !isAdding ? { paletteOpen: false, inspectorOpen: true } : null;
}

/** Keeps one side panel open on a narrow window; on a wider one both come back. */
export function useSidePanels(): void {
  useEffect(() => {
    const room = window.matchMedia(ROOM_FOR_ONE);
    let isFolded = false;
    const fold = (sides: Sides | null) => {
      if (!sides) return;
      isFolded = true;
      useEditor.setState(sides);
    };
    const unfold = () => {
      if (isFolded) useEditor.setState({ paletteOpen: true, inspectorOpen: true });
      isFolded = false;
    };
    const fit = () => {
      const { paletteOpen, inspectorOpen, document } = useEditor.getState();
      const isDrawn = document.query.operators.length > 0;
      if (!room.matches) unfold();
      else if (paletteOpen && inspectorOpen) fold({ paletteOpen: !isDrawn, inspectorOpen: isDrawn });
    };
    fit();
    room.addEventListener("change", fit);
    let isAdding = false; // a part is added and selected in one task
    const stop = useEditor.subscribe((now, before) => {
      if (now.document !== before.document) {
        isAdding = true;
        setTimeout(() => (isAdding = false));
      }
      if (room.matches) fold(oneSide(now, before, isAdding));
    });
    return () => {
      room.removeEventListener("change", fit);
      stop();
      unfold();
    };
  }, []);
}
