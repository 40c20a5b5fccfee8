/** Writing one value into a document, or a part of one, as it is at that moment: nothing else of it changes. */
import type { Json } from "../../api/types";

export type Path = readonly (string | number)[];
type Fields = { [field: string]: Json };

/** A change of a value that is applied to its newest state, not to the one that was on the page. */
export type Write<Value> = (before: Value | undefined) => Value;

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, part) => (typeof at === "object" && at !== null ? (at as Fields)[part] : undefined), value);
}

/** `before` with the value at the path changed. Objects on the way are made; undefined removes a field. */
export function changeAt<Value>(before: Value | undefined, path: Path, change: (value: unknown) => unknown): Value {
  const [part, ...rest] = path;
  if (part === undefined) return change(before) as Value;
  if (Array.isArray(before)) {
    const index = Number(part);
    if (!(index < before.length)) return before; // the entry was removed meanwhile
    return before.with(index, changeAt(before[index] as unknown, rest, change)) as Value;
  }
  const fields = (typeof before === "object" && before !== null ? before : {}) as Fields;
  const value = changeAt<unknown>(fields[part], rest, change);
  if (value !== undefined) return { ...fields, [part]: value } as Value;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== part)) as Value;
}

/** The change that sets the value at the path. */
export const writeAt =
  <Value>(path: Path, value: unknown): Write<Value> =>
  (before) =>
    changeAt(before, path, () => value);
