/** Named queries of a document: which operators belong to one, and how many copies of it run. */
import type { ExperimentDocument, NamedQuery } from "../../api/document";
import { freeName } from "./document";

export const queriesOf = (document: ExperimentDocument): NamedQuery[] => document.query.queries ?? [];

/** Place of the operator's query in the list, -1 without one. */
export const queryIndexOf = (document: ExperimentDocument, operator: string) =>
  queriesOf(document).findIndex(({ operators }) => operators.includes(operator));

/** Number of copies of the operator's query; undefined: one query, without a number in its name. */
export const copiesOf = (document: ExperimentDocument, operator: string): number | undefined =>
  queriesOf(document)[queryIndexOf(document, operator)]?.copies;

export function withQueries(document: ExperimentDocument, queries: NamedQuery[]): ExperimentDocument {
  const { queries: _before, ...query } = document.query;
  return { ...document, query: queries.length ? { ...query, queries } : query };
}

/** Names these operators as a query of their own. Queries that they leave empty are gone. */
export function nameAsQuery(document: ExperimentDocument, ids: string[]): ExperimentDocument {
  const left = withoutOperators(queriesOf(document), new Set(ids));
  const name = freeName("query", left.map((query) => query.name));
  const inOrder = document.query.operators.map(({ id }) => id).filter((id) => ids.includes(id));
  return withQueries(document, [...left, { name, operators: inOrder }]);
}

/** Puts an operator into the query of that place; -1: into none. */
export function putIntoQuery(document: ExperimentDocument, id: string, index: number): ExperimentDocument {
  const order = document.query.operators.map((operator) => operator.id);
  const queries = queriesOf(document).map((query, at) => {
    const operators = query.operators.filter((one) => one !== id);
    return at === index ? { ...query, operators: order.filter((one) => one === id || operators.includes(one)) } : { ...query, operators };
  });
  return withQueries(document, queries.filter(({ operators }) => operators.length));
}

export function withoutOperators(queries: NamedQuery[], gone: ReadonlySet<string>): NamedQuery[] {
  return queries
    .map((query) => ({ ...query, operators: query.operators.filter((id) => !gone.has(id)) }))
    .filter(({ operators }) => operators.length);
}

/** "ysb, 40 copies". */
export const queryInWords = ({ name, copies }: NamedQuery) => (copies === undefined ? name : `${name}, ${copies === 1 ? "1 copy" : `${copies.toLocaleString("en-US")} copies`}`);

type Counts = { [operator: string]: number };

/** Instances of an operator, over all its copies. now: where parallelism may change, what it is, by operator and copy. */
export function instancesNow(document: ExperimentDocument, id: string, parallelism: number, now: Counts = {}): number {
  const copies = copiesOf(document, id);
  if (copies === undefined) return now[id] ?? parallelism;
  return Array.from({ length: copies }, (_, k) => now[`${id}-${k + 1}`] ?? parallelism).reduce((sum, each) => sum + each, 0);
}
