/** Groups of the palette that are folded, remembered in this browser. */
const KEY = "millrace.palette.folded";

export function foldedGroups(): ReadonlySet<string> {
  const kept = localStorage.getItem(KEY);
  return new Set(kept ? kept.split("\n") : []);
}

export const rememberFolded = (groups: ReadonlySet<string>) => localStorage.setItem(KEY, [...groups].join("\n"));
