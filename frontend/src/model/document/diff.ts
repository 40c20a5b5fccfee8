/** Where two documents differ, for the conflict bar. */
import type { Edge } from "../../api/document";
import { edgeKey } from "./document";
import { escapePointer } from "./validate";

export interface Difference {
  pointer: string;
  mine: unknown;
  theirs: unknown;
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Parts of lists that have a name of their own are compared by it, so that one more of them does not shift all others. */
function named(value: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(value)) return value;
  const names = value.map((item) => (isContainer(item) ? nameOf(item) : undefined));
  const isEach = names.every((name) => name !== undefined) && new Set(names).size === names.length;
  return isEach ? Object.fromEntries(value.map((item, at) => [names[at], item])) : value;
}

const nameOf = (item: Record<string, unknown>): string | undefined =>
  typeof item.id === "string"
    ? item.id
    : typeof item.source === "string" && typeof item.target === "string"
      ? edgeKey(item as unknown as Edge)
      : typeof item.name === "string"
        ? item.name
        : undefined;

/** By JSON pointer; parts of lists by their names where they have one, else by number. */
export function differences(mine: unknown, theirs: unknown, pointer = ""): Difference[] {
  if (mine === theirs) return [];
  if (!isContainer(mine) || !isContainer(theirs) || Array.isArray(mine) !== Array.isArray(theirs)) return [{ pointer, mine, theirs }];
  const [left, right] = [named(mine), named(theirs)];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].flatMap((name) => differences(left[name], right[name], `${pointer}/${escapePointer(name)}`));
}
