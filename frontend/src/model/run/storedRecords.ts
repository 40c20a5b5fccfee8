/** Records that a similarity join stores: where their copies are, and which others they meet there. */
import type { StoredRecord } from "../../api/types";
import { ROLE_TEXT, type Role } from "./recordRoutes";

const ROLES: readonly Role[] = ["inner", "outer", "outlier"];
export const SIDE_NAMES = ["left", "right"] as const;

export interface Copy {
  space: number;
  number: number;
  worker: number;
  role: Role;
  /** From the workset's centroid; null: a vector without a direction has none. */
  distance: number | null;
  /** Records of the other stream in the workset: compared with it, matching it uncompared, or left to another workset. */
  compared: number;
  uncompared: number;
  left: number;
}

export const keyOf = ({ side, event_s, at }: StoredRecord) => [side, event_s, ...at].join(" ");

/** The copy at home first, then the others by workset. */
export function copiesOf(record: StoredRecord): Copy[] {
  return record.copies
    .map(([space, number, worker, code, distance, inner, outer, outlier]): Copy => {
      const role = ROLES[code] ?? "outer";
      const uncompared = role === "inner" ? inner : 0;
      const left = role === "outer" ? outer : 0;
      return { space, number, worker, role, distance, compared: inner + outer + outlier - uncompared - left, uncompared, left };
    })
    .sort((a, b) => Number(a.role === "outer") - Number(b.role === "outer") || a.space - b.space || a.number - b.number);
}

/** Why a copy is in its workset. home: the space of the record. */
export function ruleOf({ space, role, distance }: Copy, home: number, threshold: number): string {
  if (distance === 0 && role === "inner") return "inner: its vector opened the workset";
  const text = ROLE_TEXT[role](threshold);
  return space === home ? text : `${text}; its space's centroid is at most ${2 * threshold} farther than the nearest`;
}

/** The others among `records` that a record meets in a workset on a worker: compared there, or matched as two inner records. */
export function metBy(record: StoredRecord, records: readonly StoredRecord[], oneStream: boolean): StoredRecord[] {
  const own = new Map(record.copies.map(([space, number, worker, role]) => [`${space}.${number}.${worker}`, role]));
  const meets = ([space, number, worker, role]: StoredRecord["copies"][number]) => {
    const here = own.get(`${space}.${number}.${worker}`);
    return here !== undefined && !(ROLES[here] === "outer" && ROLES[role] === "outer");
  };
  return records.filter((other) => other !== record && (oneStream || other.side !== record.side) && other.copies.some(meets));
}
