import type { NamedQuery } from "../../../api/document";
import type { Json, JsonSchema } from "../../../api/types";
import { plural } from "../../../lib/format";
import { nameAsQuery, putIntoQuery, queriesOf, queryIndexOf, queryInWords, withQueries } from "../../../model/document/queries";
import { schemaAt } from "../../../model/document/schema";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { Icon } from "../../../ui/Icon";
import { edit, editAt, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { Section } from "./Section";
import "./editors";

/** The queries that the document names: each is measured by itself, and may run in copies. */
export function Queries() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { schema: root } = useRegistry();
  const queries = queriesOf(document);
  const item = schemaAt(root, ["query", "queries", "*"]);
  const operators = document.query.operators.map(({ id }) => id);
  const free = operators.filter((id) => queryIndexOf(document, id) < 0);
  const refusal = operators.length ? "Every operator has a query" : "Add operators first";
  return (
    <Section title="Queries" summary={queries.length ? queries.map(queryInWords).join("; ") : "none named"}>
      {!queries.length && (
        <p className="mut small">
          Name operators as a query, and its latency and throughput are measured. A query may run in many copies, each with records of its
          own, started at different times.
        </p>
      )}
      {item && queries.map((query, at) => <QueryForm key={at} query={query} at={at} item={item} />)}
      <Remarks problems={problems.filter((problem) => problem.pointer === "/query/queries")} />
      <button
        className="btn start"
        disabled={!free.length}
        title={free.length ? `Name ${plural(free.length, "operator")} as a query` : refusal}
        onClick={() => edit((before) => nameAsQuery(before, free))}
      >
        <Icon name="plus" small />
        Add query
      </button>
    </Section>
  );
}

function QueryForm({ query, at, item }: { query: NamedQuery; at: number; item: JsonSchema }) {
  const problems = useEditor((state) => state.problems);
  const pointer = `/query/queries/${at}`;
  return (
    <div className="latency" data-pointer={pointer} data-testid={`query-${at}`}>
      <header>
        <span>{queryInWords(query)}</span>
        <button
          className="btn ghost icon"
          aria-label={`Remove query ${query.name}`}
          title="Remove the query; its operators stay"
          onClick={() => edit((before) => withQueries(before, queriesOf(before).toSpliced(at, 1)))}
        >
          <Icon name="cross" small />
        </button>
      </header>
      <SchemaForm
        schema={item}
        value={query as unknown as { [field: string]: Json }}
        pointer={pointer}
        problems={problems}
        onChange={editAt(pointer)}
      />
      <Remarks problems={problems.filter((problem) => problem.pointer === pointer)} />
    </div>
  );
}

/** Which query the operator belongs to. */
export function QueryField({ operator }: { operator: string }) {
  const document = useEditor((state) => state.document);
  const queries = queriesOf(document);
  if (!queries.length) return null;
  const index = queryIndexOf(document, operator);
  const own = queries[index];
  return (
    <Section title="Query" summary={own ? queryInWords(own) : "shared"} open={false}>
      <div className="in">
        <select
          aria-label="Query of the operator"
          value={index}
          onChange={(event) => {
            const chosen = Number(event.target.value);
            edit((before) => putIntoQuery(before, operator, chosen));
          }}
        >
          <option value={-1}>None: shared by the queries that it feeds</option>
          {queries.map((query, at) => (
            <option key={at} value={at}>
              {queryInWords(query)}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
    </Section>
  );
}
