import { useSyncExternalStore } from "react";

/** From this width on lists have room for further columns. */
const WIDE = window.matchMedia("(min-width: 1700px)");

function follow(changed: () => void): () => void {
  WIDE.addEventListener("change", changed);
  return () => WIDE.removeEventListener("change", changed);
}

/** Whether the window is wide. */
export const useWide = (): boolean => useSyncExternalStore(follow, () => WIDE.matches);
