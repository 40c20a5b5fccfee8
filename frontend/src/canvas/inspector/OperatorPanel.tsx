import { useEffect, useMemo, useState } from "react";
import type { Json, Kind, Problem, RecordField, RecordSchema } from "../../api/types";
import {
  addEdge, DEFAULT_PORT, MAX_OPERATOR_ID, patchOperator, placeOn, renameOperator, type ExperimentDocument, type Operator, type SourceWorkload, type Tagged,
} from "../../model/document";
import { connectionRefusal, firstPartitioning, makeEdge, type PortRef } from "../../model/graph";
import { expandHosts, summariseHosts } from "../../model/hosts";
import { propertyNames, schemaAt } from "../../model/schema";
import { escapePointer, problemsAt } from "../../model/validate";
import { KindForm } from "../../ui/form/KindForm";
import { Remarks } from "../../ui/form/fields";
import { SchemaForm } from "../../ui/form/SchemaForm";
import { Icon } from "../../ui/Icon";
import { changeParallelism, deleteSelection, duplicateSelection } from "../commands";
import { edit, select, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { Section } from "./Section";

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
  const cost = schemaAt(root, ["query", "operators", "*", "cost"]);
  const own = problemsAt(problems, pointer).filter((problem) => [pointer, `${pointer}/kind`, `${pointer}/id`, `${pointer}/params`].includes(problem.pointer));
  const workload = document.workload.sources[operator.id];
  const isSource = kind ? !kind.inputs.length : Boolean(workload);
  return (
    <>
      <div className="form first">
        <Remarks problems={own} />
        <div className="two">
          <IdField key={operator.id} operator={operator} pointer={pointer} />
          <ParallelismField operator={operator} pointer={pointer} problems={problems} />
        </div>
        {kind && !isSource && <p className="doc">{kind.doc.split("\n\n")[0]}</p>}
        {kind && propertyNames(kind.schema).length > 0 && (
          <SchemaForm key={operator.id} schema={kind.schema} value={operator.params} pointer={`${pointer}/params`} problems={problems} records={records}
            onChange={(params, path) => edit((before) => patchOperator(before, operator.id, { params }), `${operator.id} ${path}`)} />
        )}
        {kind?.source && <p className="ref"><Icon name="book" />{kind.source}</p>}
      </div>
      {isSource && <SourceSections operator={operator} workload={workload} />}
      <Section title="Hosts" summary={summariseHosts(useEditor.getState().placement[operator.id] ?? []) || "not placed"} open={false}><HostsField operator={operator} /></Section>
      {cost && (
        <Section title="Cost" summary={operator.cost ? "own prices" : "from the price list"} open={false}>
          <SchemaForm schema={cost} value={operator.cost as { [field: string]: Json } | undefined} pointer={`${pointer}/cost`} problems={problems}
            onChange={(value, path) => edit((before) => patchOperator(before, operator.id, { cost: Object.values(value).some((one) => one !== undefined) ? value : null }), path)} />
        </Section>
      )}
      <Section title="Records" summary={recordsSummary(schemas, operator.id, kind)} open={!isSource}>
        {Object.entries(records).map(([port, fields]) => <SchemaList key={`in ${port}`} title={port === DEFAULT_PORT.target ? "In" : `In, ${port}`} fields={fields} />)}
        {(kind?.outputs ?? []).map((port) => {
          const schema = schemas[`${operator.id}.${port}`];
          return schema && <SchemaList key={port} title={port === DEFAULT_PORT.source ? "Out" : `Out, ${port}`} fields={schema.fields} bytes={schema.bytes} />;
        })}
        {!Object.values(records).flat().length && !Object.keys(schemas).some((key) => key.startsWith(`${operator.id}.`)) && <p className="mut small">Known as soon as the operator is connected and valid.</p>}
      </Section>
      <Section title="Connect" summary="press C" open={false}><ConnectField operator={operator} kinds={kinds} /></Section>
      <div className="actions">
        <button className="btn" onClick={duplicateSelection}><Icon name="copy" />Duplicate</button>
        <button className="btn danger" onClick={deleteSelection}><Icon name="trash" />Delete</button>
      </div>
    </>
  );
}

/** Fields of the records at each input port, from what the connected outputs deliver. */
function inputRecords(document: ExperimentDocument, schemas: Record<string, RecordSchema>, id: string, kind: Kind | undefined): { [port: string]: RecordField[] } {
  const records: { [port: string]: RecordField[] } = {};
  for (const port of kind?.inputs ?? []) {
    const edge = document.query.edges.find((one) => one.target === id && (one.target_port ?? DEFAULT_PORT.target) === port);
    const schema = edge && schemas[`${edge.source}.${edge.source_port ?? DEFAULT_PORT.source}`];
    if (schema) records[port] = schema.fields;
  }
  return records;
}

function recordsSummary(schemas: Record<string, RecordSchema>, id: string, kind: Kind | undefined): string {
  const schema = schemas[`${id}.${kind?.outputs[0] ?? DEFAULT_PORT.source}`];
  return schema ? `${schema.fields.length} fields, ${schema.bytes} B` : "";
}

export function SchemaList({ title, fields, bytes }: { title: string; fields: RecordField[]; bytes?: number }) {
  return (
    <div className="schema"><header><b>{title}</b><span>{bytes === undefined ? "" : `${bytes} B`}</span></header>
      <dl>{fields.map((field) => <div key={field.name}><dt>{field.name}</dt><dd>{field.type}</dd></div>)}</dl></div>
  );
}

const ID_PATTERN = /^[a-z][a-z0-9_-]*$/;

/** Renaming happens when the field is left, everywhere at once; a name that cannot be says why and changes nothing. */
function IdField({ operator, pointer }: { operator: Operator; pointer: string }) {
  const operators = useEditor((state) => state.document.query.operators);
  const [text, setText] = useState(operator.id);
  const why = text === operator.id ? ""
    : !ID_PATTERN.test(text) ? "Lower-case letters, digits, _ and -, beginning with a letter."
      : text.length > MAX_OPERATOR_ID ? `At most ${MAX_OPERATOR_ID} characters.` : operators.some((one) => one.id === text) ? `There is another operator called ${text}.` : "";
  const commit = () => {
    if (why || text === operator.id) return setText(operator.id);
    edit((before) => renameOperator(before, operator.id, text));
    select({ operators: [text] });
  };
  return (
    <div className={`field ${why ? "err" : ""}`} data-pointer={`${pointer}/id`}>
      <label htmlFor="operator-id">Id<i>{operator.kind}</i></label>
      <div className="in"><input id="operator-id" value={text} spellCheck={false} onChange={(event) => setText(event.target.value)} onBlur={commit}
        onKeyDown={(event) => { if (event.key === "Enter") event.currentTarget.blur(); if (event.key === "Escape") { setText(operator.id); } }} /></div>
      {why && <p className="remark err"><Icon name="crossc" small /><span>{why}</span></p>}
    </div>
  );
}

function ParallelismField({ operator, pointer, problems }: { operator: Operator; pointer: string; problems: Problem[] }) {
  const here = `${pointer}/parallelism`;
  const own = problems.filter((problem) => problem.pointer === here);
  return (
    <div className={`field ${own.length ? "err" : ""}`} data-pointer={here}>
      <label htmlFor="operator-parallelism">Parallelism<i>instances</i></label>
      <div className="in number">
        <button aria-label="One less" title={operator.parallelism <= 1 ? "At least one instance" : "One less"} disabled={operator.parallelism <= 1} onClick={() => changeParallelism([operator.id], -1)}><Icon name="minus" small /></button>
        <input id="operator-parallelism" type="number" min={1} value={operator.parallelism}
          onChange={(event) => edit((before) => patchOperator(before, operator.id, { parallelism: Number(event.target.value) }), here)} />
        <button aria-label="One more" onClick={() => changeParallelism([operator.id], 1)}><Icon name="plus" small /></button>
      </div>
      <Remarks problems={own} />
    </div>
  );
}

const SOURCE_PARTS = [
  { name: "stream", label: "Stream", family: "streams", open: true },
  { name: "rate", label: "Rate", family: "rates", open: true },
  { name: "disorder", label: "Disorder", family: "disorders", open: false },
  { name: "watermarks", label: "Watermarks", family: "watermarks", open: false },
] as const;

function SourceSections({ operator, workload }: { operator: Operator; workload: SourceWorkload | undefined }) {
  const problems = useEditor((state) => state.problems);
  const { registry } = useRegistry();
  const pointer = `/workload/sources/${escapePointer(operator.id)}`;
  const own = problems.filter((problem) => problem.pointer === pointer);
  const change = (name: string, value: Tagged, path: string) => edit((before) => ({
    ...before,
    workload: { ...before.workload, sources: { ...before.workload.sources, [operator.id]: { ...(before.workload.sources[operator.id] as SourceWorkload), [name]: value } } },
  }), path);
  return (
    <>
      {own.length > 0 && <div className="form first"><Remarks problems={own} /></div>}
      {SOURCE_PARTS.map(({ name, label, family, open }) => {
        const kinds = registry[family] ?? [];
        // Without an own choice the document's default holds: the family's first kind.
        const value = workload?.[name] ?? (name === "disorder" || name === "watermarks" ? kinds[0] && { kind: kinds[0].kind } : undefined);
        const title = kinds.find((kind) => kind.kind === value?.kind)?.title ?? "choose";
        return (
          <Section key={name} title={label} summary={title} open={open || problemsAt(problems, `${pointer}/${name}`).length > 0}>
            <KindForm label={label} bare kinds={kinds} value={value} pointer={`${pointer}/${name}`} problems={problems} onChange={(next, path) => change(name, next, path)} />
          </Section>
        );
      })}
    </>
  );
}

/** Explicit hosts as a list of names; the list cycles over the instances. Dropping the operator on a host does the same. */
function HostsField({ operator }: { operator: Operator }) {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const placement = useEditor((state) => state.placement);
  const explicit = document.placement.kind === "explicit";
  const given = (explicit ? document.placement.hosts?.[operator.id] : undefined) ?? [...new Set(placement[operator.id] ?? [])];
  const [text, setText] = useState(given.join(", "));
  useEffect(() => setText(given.join(", ")), [given.join(", ")]); // eslint-disable-line react-hooks/exhaustive-deps -- the names, not the array
  const pointer = `/placement/hosts/${escapePointer(operator.id)}`;
  const names = expandHosts(document).map((host) => host.name);
  const commit = () => {
    const list = text.split(",").map((name) => name.trim()).filter(Boolean);
    if (list.join() !== given.join()) edit((before) => placeOn(before, operator.id, list, placement));
  };
  return (
    <div className="field" data-pointer={pointer}>
      <label htmlFor="operator-hosts">Host names<i>cycle over the instances</i></label>
      <div className="in"><input id="operator-hosts" className="mono" value={text} spellCheck={false} placeholder={names.slice(0, 3).join(", ")} onChange={(event) => setText(event.target.value)}
        onBlur={commit} onKeyDown={(event) => { if (event.key === "Enter") commit(); }} /></div>
      <p>{explicit ? "Explicit placement. A host may stand in the list more than once." : `Placed by strategy '${document.placement.kind}'. An edit here, or dropping the operator on a host, makes the placement explicit.`}</p>
      <Remarks problems={problemsAt(problems, pointer)} />
    </div>
  );
}

/** Connecting by keyboard: choose an input of another operator. Those that cannot be chosen say why. */
function ConnectField({ operator, kinds }: { operator: Operator; kinds: Map<string, Kind> }) {
  const document = useEditor((state) => state.document);
  const outputs = kinds.get(operator.kind)?.outputs ?? [];
  const targets = document.query.operators.flatMap((one) => (kinds.get(one.kind)?.inputs ?? []).map((port): PortRef => ({ operator: one.id, port, side: "in" })));
  if (!outputs.length) return <p className="mut small">{operator.id} has no output: records end here.</p>;
  return outputs.map((output) => {
    const source: PortRef = { operator: operator.id, port: output, side: "out" };
    return (
      <div className="field" key={output}>
        <label htmlFor={`connect-${output}`}>Connect {output} to</label>
        <div className="in">
          <select id={`connect-${output}`} data-connect value="" onChange={(event) => {
            const target = targets[Number(event.target.value)];
            if (target) edit((before) => addEdge(before, makeEdge(source, target, firstPartitioning(before, source, target))));
          }}>
            <option value="">choose an input</option>
            {targets.map((target, at) => {
              const why = connectionRefusal(document, kinds, source, target);
              return target.operator !== operator.id && <option key={at} value={at} disabled={why !== null}>{target.operator}{target.port === DEFAULT_PORT.target ? "" : `, ${target.port}`}{why ? ` (${why})` : ""}</option>;
            })}
          </select>
          <Icon name="down" />
        </div>
      </div>
    );
  });
}
