/** What a table of rescales says of one: a number, or a dash and why there is none. */
import type { RescaleAction } from "../../api/types";
import { bytes, short } from "../../lib/format";
import { downOf, NO_SOURCE, RUN_ENDED, spell, type Drain } from "./scaling";

/** why: empty where there is a number, or while it is still to come. */
export interface Told {
  text: string;
  why: string;
}

/** Why there is no number of what a rescale that ended did. */
const never = ({ stopped_s }: RescaleAction) => (stopped_s === null ? NO_SOURCE : "It did not resume");

/** How long no source read. over: no frame will come. */
export function downTold(action: RescaleAction, over: boolean): Told {
  const down_s = downOf(action);
  if (down_s !== null) return { text: spell(down_s), why: "" };
  if (action.outcome) return { text: "–", why: never(action) };
  return over ? { text: "–", why: RUN_ENDED } : { text: "in progress", why: "" };
}

/** How many records more waited as it went on. */
export function backlogTold(action: RescaleAction, over: boolean): Told {
  const { outcome, lag_before, lag_after } = action;
  if (lag_before === null || lag_after === null)
    return { text: "–", why: outcome ? never(action) : over ? RUN_ENDED : "It has not resumed yet" };
  const more = lag_after - lag_before;
  return { text: `${more > 0 ? "+" : ""}${short(more)}`, why: "" };
}

/** How long it took until these were worked off. */
export const drainTold = ({ seconds, why }: Drain): Told => ({ text: seconds === null ? "–" : spell(seconds), why });

/** How much state changed its instance. */
export const movedTold = ({ stored_s, moved_bytes }: RescaleAction): Told => ({
  text: stored_s === null || moved_bytes === null ? "–" : bytes(moved_bytes),
  why: stored_s === null ? "No savepoint was written" : "",
});
