/** What the diagnosis of a run asks for and how its table of instances is sorted. */
import type { HotKeys, InstanceRow } from "../../api/types";
import { plural, short } from "../../lib/format";

/** A moment is diagnosed by the frames up to it: long enough that a queue shows whether it grows. */
export const FRAMES = 20;

export interface Span {
  from_s: number | null;
  to_s: number | null;
}

/** The span of a diagnosis: of a moment the frames before it, else the whole run after its warm-up. */
export function spanOf(moment_s: number | null, frame_s: number): Span {
  if (moment_s === null) return { from_s: null, to_s: null };
  return { from_s: Math.max(0, Number((moment_s - FRAMES * frame_s).toFixed(9))), to_s: moment_s };
}

export const queryOf = ({ from_s, to_s }: Span): string => {
  const params = new URLSearchParams();
  if (from_s !== null) params.set("from_s", String(from_s));
  if (to_s !== null) params.set("to_s", String(to_s));
  return params.size ? `?${params}` : "";
};

export type InstanceColumn = keyof InstanceRow;

/** The rows by a column, largest numbers first; texts and the index ascend. Rows without a value come last, equal ones keep their order. */
export function sorted(rows: readonly InstanceRow[], column: InstanceColumn, reversed: boolean): InstanceRow[] {
  const ascends = column === "operator" || column === "host" || column === "index";
  const sign = ascends === reversed ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [a[column], b[column]];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * (typeof x === "string" ? x.localeCompare(String(y), "en", { numeric: true }) : x - Number(y));
  });
}

/** A share with the digits that a small one needs: 43 %, 4.2 %, 0.05 %. */
export const shareText = (share: number): string => `${short(100 * share)} %`;

/** What the list of an instance's hottest keys is about. name: of the instance. */
export function keysText({ field, records, of_operator, distinct, keys }: HotKeys, name: string): string {
  if (!records) return `The sources read no record in this frame that goes to ${name}.`;
  const shown = keys.reduce((sum, { share }) => sum + share, 0);
  const [which, part] =
    keys.length < distinct ? [`Top ${keys.length} of ${distinct.toLocaleString("en-US")} keys`, `${shareText(shown)} of `] : [plural(distinct, "key"), ""];
  const read = `${which} by ${field}: ${part}${plural(records, "record")} read in this frame.`;
  return `${read} ${name} receives ${shareText(records / of_operator)} of its operator's records.`;
}
