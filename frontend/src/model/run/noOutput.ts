/** Runs that succeed although their sinks received nothing. */
import type { ExperimentDocument } from "../../api/document";
import type { Json } from "../../api/types";

type Summary = { [field: string]: Json } | null | undefined;

/** Whether sources were read but no record was delivered. */
export const hasNoOutput = (summary: Summary) => Number(summary?.records_in) > 0 && summary?.records_out === 0;

/** Where records stop: the first operators that received some and emitted none, as a sentence. */
export function whereRecordsStop(summary: Summary, document: ExperimentDocument): string {
  const operators = (summary?.operators ?? {}) as { [id: string]: { in?: number; out?: number } };
  const senders = new Set(document.query.edges.map((edge) => edge.source));
  const stops = document.query.operators.filter(({ id }) => senders.has(id) && Number(operators[id]?.in) > 0 && operators[id]?.out === 0);
  return stops
    .map(({ id }) => `'${id}' received ${Number(operators[id]?.in).toLocaleString("en-US")} records and emitted none.`)
    .join(" ");
}
