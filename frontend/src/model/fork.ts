/** Forks: what is different from a moment on, as the API takes it. */
import type { Json } from "../api/types";

/** What goes wrong in a fork; `none`: only the load changes. */
export const TROUBLES = {
  none: "Nothing",
  pause: "A host pauses for 5 s",
  slow_host: "A host at half speed for 10 s",
  host_loss: "A host is lost for ever",
} as const;
export type Trouble = keyof typeof TROUBLES;

export interface ForkWish {
  at_s: number;
  /** As typed: times the load. */
  load: string;
  trouble: Trouble;
  host: string;
}

const FAULTS: { [trouble in Exclude<Trouble, "none">]: { [field: string]: Json } } = {
  pause: { kind: "pause", for_ms: 5000 },
  slow_host: { kind: "slow_host", for_ms: 10_000, factor: 0.5 },
  host_loss: { kind: "host_loss" },
};

/** The factor that was typed; null if it is none. */
export function loadIn(text: string): number | null {
  const load = Number(text.trim().replace(",", "."));
  return text.trim() && Number.isFinite(load) && load > 0 && load <= 1e6 ? load : null;
}

/** The body of the request, without what stays as it was. */
export function forkBody(wish: ForkWish): { [field: string]: Json } {
  const load = loadIn(wish.load) ?? 1;
  const fault = wish.trouble === "none" ? null : { ...FAULTS[wish.trouble], host: wish.host, when: { kind: "at", at_s: wish.at_s } };
  return { at_s: wish.at_s, ...(load === 1 ? {} : { load }), ...(fault ? { faults: [fault] } : {}) };
}

/** Why there can be no fork at this moment; null if there can. */
export function forkRefusal(at_s: number | null, horizon_s: number, deleted: boolean): string | null {
  if (deleted) return "This run was deleted";
  if (at_s === null) return "There is no frame yet to fork from";
  if (at_s >= horizon_s) return "The input ends here: scrub back to a moment before the horizon";
  return null;
}
