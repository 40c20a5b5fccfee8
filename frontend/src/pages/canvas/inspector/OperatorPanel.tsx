import { useMemo } from "react";
import { Link } from "react-router";
import type { ExperimentDocument, Operator } from "../../../api/document";
import type { Json, Kind, RecordField, RecordSchema } from "../../../api/types";
import { DEFAULT_PORT, operatorOf } from "../../../model/document/document";
import { patchOperator, renameOperator } from "../../../model/document/edits";
import { summariseHosts } from "../../../model/document/hosts";
import { inStep, stagesWith } from "../../../model/graph/similarity";
import { propertyNames, schemaAt } from "../../../model/document/schema";
import { problemsAt } from "../../../model/document/validate";
import type { Write } from "../../../model/document/writes";
import { withParams } from "../../../model/graph/graph";
import { WriteArea } from "../../../session/may";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { Icon } from "../../../ui/Icon";
import { Marked } from "../../../ui/Marked";
import { deleteSelection, duplicateSelection } from "../commands";
import { edit, editAt, select, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { Section } from "./Section";
import "./editors";
import { ConnectField } from "./ConnectField";
import { HostsField } from "./HostsField";
import { QueryField } from "./Queries";
import { SchemaList } from "./SchemaList";
import { SourceSections } from "./SourceSections";
import { TargetSelectivity } from "./TargetSelectivity";

type Fields = { [field: string]: Json };

/** What stands above the kind's own parameters. */
const HEAD = ["id", "parallelism"];

/** The selected operator: identity, its kind's form, its workload if it is a source, where it stands, what flows. */
export function OperatorPanel({ operator }: { operator: Operator }) {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const schemas = useEditor((state) => state.schemas);
  const { kinds, schema: root } = useRegistry();
  const index = document.query.operators.indexOf(operator);
  const pointer = `/query/operators/${index}`;
  const kind = kinds.get(operator.kind);
  const records = useMemo(() => inputRecords(document, schemas, operator.id, kind), [document, schemas, operator.id, kind]);
  const schema = schemaAt(root, ["query", "operators", "*"]);
  const cost = schemaAt(root, ["query", "operators", "*", "cost"]);
  const own = problemsAt(problems, pointer).filter((problem) =>
    [pointer, `${pointer}/kind`, `${pointer}/params`].includes(problem.pointer),
  );
  const workload = document.workload.sources[operator.id];
  const changeHead = (write: Write<Fields>, group: string) => {
    const { id } = write({ id: operator.id });
    if (typeof id === "string" && id !== operator.id) {
      edit((before) => renameOperator(before, operator.id, id));
      select({ operators: [id] });
    } else editAt<Fields>(pointer)(write, group);
  };
  const stages = stagesWith(document, operator.id);
  const isSource = kind ? !kind.inputs.length : Boolean(workload);
  return (
    <>
      <WriteArea className="form first">
        <Remarks problems={own} />
        {schema && (
          <SchemaForm
            key={`head ${operator.id}`}
            schema={schema}
            value={{ id: operator.id, ...(operator.parallelism === undefined ? {} : { parallelism: operator.parallelism }) }}
            pointer={pointer}
            problems={problems}
            omit={propertyNames(schema).filter((name) => !HEAD.includes(name))}
            idPrefix="operator"
            onChange={changeHead}
          />
        )}
        {kind && !isSource && (
          <p className="doc">
            <b>{kind.title}.</b> <Marked text={kind.doc.split("\n\n")[0] ?? ""} /> <Link to={`/help/operators/${kind.kind}`}>More</Link>
          </p>
        )}
        {stages.length > 1 && (
          <p className="doc" data-testid="in-step">
            Distance, threshold, windows, spaces and coordinates stay equal in {stages.join(", ")}.
          </p>
        )}
        {kind && propertyNames(kind.schema).length > 0 && (
          <SchemaForm
            key={operator.id}
            schema={kind.schema}
            value={operator.params}
            pointer={`${pointer}/params`}
            problems={problems}
            records={records}
            onChange={(write, group) => edit((before) => inStep(before, withParams(before, operator.id, write), operator.id), group)}
          />
        )}
        <TargetSelectivity key={`selectivity ${operator.id}`} operator={operator.id} />
        {!kind && (
          <p className="doc">
            This page does not know the operator kind “{operator.kind}”. Its parameters are kept as they are; reload the page if
            Millrace was updated.
          </p>
        )}
        {kind?.source && (
          <p className="ref">
            <Icon name="book" />
            {kind.source}
          </p>
        )}
      </WriteArea>
      {isSource && <SourceSections operator={operator} workload={workload} />}
      <QueryField operator={operator.id} />
      <Section title="Hosts" summary={summariseHosts(useEditor.getState().placement[operator.id] ?? []) || "not placed"} open={false}>
        <HostsField operator={operator} />
      </Section>
      {cost && (
        <Section title="Cost" summary={operator.cost ? "own prices" : "from the price list"} open={false}>
          <SchemaForm
            schema={cost}
            value={operator.cost as { [field: string]: Json } | undefined}
            pointer={`${pointer}/cost`}
            problems={problems}
            onChange={(write, group) =>
              edit((before) => {
                const cost = write(operatorOf(before, operator.id)?.cost as Fields | undefined);
                return patchOperator(before, operator.id, { cost: Object.keys(cost).length ? cost : null });
              }, group)
            }
          />
        </Section>
      )}
      <Section reads title="Records" summary={recordsSummary(schemas, operator.id, kind)} open={!isSource}>
        {Object.entries(records).map(([port, fields]) => (
          <SchemaList key={`in ${port}`} title={port === DEFAULT_PORT.target ? "In" : `In, ${port}`} fields={fields} />
        ))}
        {(kind?.outputs ?? []).map((port) => {
          const schema = schemas[`${operator.id}.${port}`];
          return (
            schema && (
              <SchemaList
                key={port}
                title={port === DEFAULT_PORT.source ? "Out" : `Out, ${port}`}
                fields={schema.fields}
                bytes={schema.bytes}
              />
            )
          );
        })}
        {!Object.values(records).flat().length && !Object.keys(schemas).some((key) => key.startsWith(`${operator.id}.`)) && (
          <p className="mut small">Available once the operator is connected and valid.</p>
        )}
      </Section>
      <Section title="Connect" summary="press C" open={false}>
        <ConnectField operator={operator} kinds={kinds} />
      </Section>
      <div className="actions">
        <button className="btn" onClick={duplicateSelection}>
          <Icon name="copy" />
          Duplicate
        </button>
        <button className="btn danger" onClick={deleteSelection}>
          <Icon name="trash" />
          Delete
        </button>
      </div>
    </>
  );
}

/** Fields of the records at each input port, from what the connected outputs deliver. */
function inputRecords(
  document: ExperimentDocument,
  schemas: Record<string, RecordSchema>,
  id: string,
  kind: Kind | undefined,
): { [port: string]: RecordField[] } {
  const records: { [port: string]: RecordField[] } = {};
  for (const port of kind?.inputs ?? []) {
    const into = document.query.edges.filter((one) => one.target === id && (one.target_port ?? DEFAULT_PORT.target) === port);
    const edge = into.find((one) => !one.feedback) ?? into[0];
    const schema = edge && schemas[`${edge.source}.${edge.source_port ?? DEFAULT_PORT.source}`];
    if (schema) records[port] = schema.fields;
  }
  return records;
}

function recordsSummary(schemas: Record<string, RecordSchema>, id: string, kind: Kind | undefined): string {
  const schema = schemas[`${id}.${kind?.outputs[0] ?? DEFAULT_PORT.source}`];
  return schema ? `${schema.fields.length} fields, ${schema.bytes} B` : "";
}
