/** Lists under names: what of the address of the list of runs they keep. */
import type { ViewQuery } from "../../api/types";

export const KEPT = ["state", "search", "experiment", "tag", "study", "of_studies", "sort", "columns", "show", "by", "then", "measures", "order", "x", "y", "colour", "log", "axes"] as const;

/** What an address says, as a view has it: nothing of what is empty. */
export function viewOf(url: Partial<Record<(typeof KEPT)[number], string>>): ViewQuery {
  const given = KEPT.filter((name) => url[name]);
  return Object.fromEntries(given.map((name) => [name, name === "of_studies" ? true : url[name]])) as ViewQuery;
}

/** What an address has to say for a view; what the view leaves out is emptied. */
export const addressOf = (query: ViewQuery): Record<(typeof KEPT)[number], string> =>
  Object.fromEntries(KEPT.map((name) => [name, name === "of_studies" ? (query.of_studies ? "1" : "") : (query[name] ?? "")])) as Record<
    (typeof KEPT)[number],
    string
  >;

export const sameView = (one: ViewQuery, other: ViewQuery): boolean =>
  KEPT.every((name) => (one[name] || "") === (other[name] || ""));
