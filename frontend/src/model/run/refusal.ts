/** What of the list's address the server refuses, and what is shown without it. */
import { KEPT } from "./views";

type Parameter = (typeof KEPT)[number];

/** parameters: those at fault; none where the runs themselves are chosen badly. way: what is shown without them. */
export interface Fault {
  title: string;
  way: string;
  parameters: readonly Parameter[];
}

const INVALID_FIELD = "Invalid field";
const FAULTS: { [part: string]: Fault } = {
  search: { title: "Invalid search", way: "Show all runs", parameters: [] },
  value: { title: INVALID_FIELD, way: "Show the usual columns", parameters: ["columns"] },
  by: { title: INVALID_FIELD, way: "Group by experiment", parameters: ["by", "then", "order"] },
  measure: { title: INVALID_FIELD, way: "Show the usual measures", parameters: ["measures", "order"] },
  sort: { title: "Invalid order", way: "Show the usual order", parameters: ["sort", "order"] },
  scatter: { title: INVALID_FIELD, way: "Show the usual axes", parameters: ["x", "y", "colour"] },
  parallel: { title: INVALID_FIELD, way: "Show the usual axes", parameters: ["axes", "colour"] },
};
const OTHER: Fault = { title: "Invalid filter", way: "Show all runs", parameters: [] };

/** pointer: to the part of the query that is refused. Null where it is what the page shows by itself: no run has ended that has it. */
export function faultOf(pointer: string, url: { readonly [Name in Parameter]?: string }): Fault | null {
  const parts = pointer.split("/").map((part) => (part === "field" ? (url.show ?? "") : part));
  const fault = parts.flatMap((part) => FAULTS[part] ?? [])[0] ?? OTHER;
  return fault.parameters.length && !fault.parameters.some((name) => url[name]) ? null : fault;
}
