/** Where two documents differ, for the conflict bar. */
import { escapePointer } from "./validate";

export interface Difference {
  pointer: string;
  mine: unknown;
  theirs: unknown;
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

export function differences(mine: unknown, theirs: unknown, pointer = ""): Difference[] {
  if (mine === theirs) return [];
  if (!isContainer(mine) || !isContainer(theirs) || Array.isArray(mine) !== Array.isArray(theirs)) return [{ pointer, mine, theirs }];
  const names = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
  return [...names].flatMap((name) => differences(mine[name], theirs[name], `${pointer}/${escapePointer(name)}`));
}
