/** Editors that know the whole document and the lab: an operator's id, hosts, data sets, and where records go. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { datasetsQuery } from "../../../api/queries";
import type { Dataset, Family, Kind } from "../../../api/types";
import { checkCompletionsAt, measurementsOf } from "../../../model/document/assertions";
import { DEFAULT_PORT, MAX_OPERATOR_ID } from "../../../model/document/document";
import { addEdge } from "../../../model/document/edits";
import { plural } from "../../../lib/format";
import { expandHosts } from "../../../model/document/hosts";
import { regionsOf } from "../../../model/document/regions";
import { closesCycle, connectionRefusal, newEdge, type PortRef } from "../../../model/graph/graph";
import { addEditors, CommittedText, PlainEditor, type EditorProps } from "../../../ui/form/editors";
import { ExpressionEditor } from "../../../ui/form/ExpressionEditor";
import { Icon } from "../../../ui/Icon";
import { UploadDataDialog } from "../../../ui/upload/UploadDataDialog";
import { edit, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

/** Renaming happens when the field is left, everywhere at once; a name that cannot be says why and changes nothing. */
function OperatorId({ id, value, schema, onChange }: EditorProps) {
  const operators = useEditor((state) => state.document.query.operators);
  const pattern = typeof schema.pattern === "string" ? new RegExp(schema.pattern) : /./;
  const refusal = (text: string) =>
    text.length > MAX_OPERATOR_ID || !pattern.test(text)
      ? "This is not a valid id."
      : operators.some((one) => one.id === text)
        ? `Another operator is already called ${text}.`
        : "";
  return <CommittedText id={id} value={String(value ?? "")} refusal={refusal} onCommit={onChange} />;
}

/** Names of hosts, separated by commas. Dropping the operator on a host does the same. */
function Hosts({ id, value, onChange }: EditorProps) {
  const document = useEditor((state) => state.document);
  const names = expandHosts(document).map((host) => host.name);
  const given = (value as string[] | undefined) ?? [];
  const commit = (text: string) => {
    const list = text
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean);
    if (list.join() !== given.join()) onChange(list);
  };
  return (
    <CommittedText id={id} value={given.join(", ")} placeholder={names.slice(0, 3).join(", ")} marks={{ "data-place": "" }} onCommit={commit} />
  );
}

/** Choices by name. What is chosen stays in the list when it is there no more. */
function NameChoice({
  id,
  chosen,
  required,
  choices,
  what,
  gone,
  onChange,
}: {
  id: string;
  chosen: string;
  required: boolean;
  /** Undefined: not known yet. */
  choices: { name: string; note: string }[] | undefined;
  /** With its article: what is to be chosen. */
  what: string;
  /** Said behind a name that is not among the choices. */
  gone: string;
  onChange: (value: unknown) => void;
}) {
  const isGone = choices !== undefined && !choices.some(({ name }) => name === chosen);
  return (
    <div className="in">
      <select id={id} value={chosen} onChange={(event) => onChange(event.target.value || undefined)}>
        {(!chosen || !required) && <option value="">{required ? `choose ${what}` : "none"}</option>}
        {chosen && (isGone || !choices) && (
          <option value={chosen}>
            {chosen} {isGone && `(${gone})`}
          </option>
        )}
        {choices?.map(({ name, note }) => (
          <option key={name} value={name}>
            {name} · {note}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </div>
  );
}

/** A list of more hosts is no help. */
const HOSTS_LISTED_MAX = 500;

/** One of the cluster's hosts. */
function HostName(props: EditorProps) {
  const { id, value, required, onChange } = props;
  const document = useEditor((state) => state.document);
  const choices = expandHosts(document).map(({ name, group }) => ({ name, note: group }));
  if (choices.length > HOSTS_LISTED_MAX) return <PlainEditor {...props} />;
  return <NameChoice {...{ id, required, choices, onChange }} chosen={String(value ?? "")} what="a host" gone="no such host" />;
}

/** One of the regions that hosts are in. */
function RegionName({ id, value, required, onChange }: EditorProps) {
  const document = useEditor((state) => state.document);
  const hosts = expandHosts(document);
  const choices = regionsOf(document).map((name) => ({ name, note: plural(hosts.filter(({ group }) => group === name).length, "host") }));
  return <NameChoice {...{ id, required, choices, onChange }} chosen={String(value ?? "")} what="a region" gone="no hosts" />;
}

/** The region of a host: one that there is, or a new one. It counts when the field is left, because links follow a region's new name. */
function OwnRegion({ id, value, onChange }: EditorProps) {
  const document = useEditor((state) => state.document);
  const given = String(value ?? "");
  return (
    <CommittedText
      id={id}
      value={given}
      placeholder="cloud"
      offered={regionsOf(document).filter((name) => name !== given)}
      onCommit={(text) => onChange(text.trim() || undefined)}
    />
  );
}

/** An operator of the query; those that are named already (`x-taken`) are not offered. */
function OperatorName({ id, value, schema, required, onChange }: EditorProps) {
  const operators = useEditor((state) => state.document.query.operators);
  const { kinds } = useRegistry();
  const taken = (schema["x-taken"] ?? []) as string[];
  const choices = operators
    .filter((one) => !taken.includes(one.id))
    .map((one) => ({ name: one.id, note: kinds.get(one.kind)?.title ?? one.kind }));
  return <NameChoice {...{ id, required, choices, onChange }} chosen={String(value ?? "")} what="an operator" gone="no such operator" />;
}

/** One of the lab's data sets, or a new one. */
function DatasetName({ id, value, required, onChange }: EditorProps) {
  const { data } = useQuery(datasetsQuery);
  const [uploading, setUploading] = useState(false);
  const choices = data?.map(({ name, rows }) => ({ name, note: `${rows.toLocaleString("en-US")} rows` }));
  return (
    <>
      <NameChoice {...{ id, required, choices, onChange }} chosen={String(value ?? "")} what="a data set" gone="deleted" />
      <button type="button" className="link small choose" onClick={() => setUploading(true)}>
        Upload a file
      </button>
      {uploading && <UploadDataDialog onUploaded={({ name }) => onChange(name)} onClose={() => setUploading(false)} />}
    </>
  );
}

/** A column of the data set that the form names; of those that hold timestamps where it has to be a time (`x-time`). */
function DatasetColumn(props: EditorProps) {
  const { id, value, schema, required, around, onChange } = props;
  const { data } = useQuery(datasetsQuery);
  const dataset = data?.find(({ name }) => name === around.value.dataset);
  if (!dataset) return <PlainEditor {...props} />;
  const choices = columnsOf(dataset, schema["x-time"] === true).map(({ name, type }) => ({ name, note: type }));
  const gone = schema["x-time"] ? "holds no timestamps" : "no such column";
  return <NameChoice {...{ id, required, choices, onChange, gone }} chosen={String(value ?? "")} what="a column" />;
}

const columnsOf = ({ columns, timestamps }: Dataset, areTimes: boolean) =>
  areTimes ? columns.filter(({ name }) => timestamps.includes(name)) : columns;

/** Connecting by keyboard: choose an input of another operator. Those that cannot be chosen say why. */
function Target({ id, schema, onChange }: EditorProps) {
  const document = useEditor((state) => state.document);
  const schemas = useEditor((state) => state.schemas);
  const { kinds } = useRegistry();
  const source = schema["x-source"] as unknown as PortRef;
  const targets = inputsOf(document.query.operators, kinds);
  return (
    <div className="in">
      <select
        id={id}
        data-connect
        value=""
        onChange={(event) => {
          const target = targets[Number(event.target.value)];
          if (!target) return;
          edit((before) => addEdge(before, newEdge(before, source, target)));
          onChange(undefined);
        }}
      >
        <option value="">choose an input</option>
        {targets.map((target, at) => {
          const why = connectionRefusal(document, kinds, schemas, source, target);
          return (
            <option key={at} value={at} disabled={why !== null}>
              {target.operator}
              {target.port === DEFAULT_PORT.target ? "" : `, ${target.port}`}
              {why ? ` (${why})` : closesCycle(document, source.operator, target.operator) ? " (feedback)" : ""}
            </option>
          );
        })}
      </select>
      <Icon name="down" />
    </div>
  );
}

/** One of the kinds of a family (`x-family`), by its name. */
function KindName({ id, value, schema, onChange }: EditorProps) {
  const { registry } = useRegistry();
  const kinds = registry[schema["x-family"] as Family] ?? [];
  const chosen = String(value ?? schema.default ?? "");
  const known = kinds.find((one) => one.kind === chosen);
  return (
    <>
      <div className="in">
        <select id={id} value={chosen} onChange={(event) => onChange(event.target.value)}>
          {!known && <option value={chosen}>{chosen} (unknown)</option>}
          {kinds.map((one) => (
            <option key={one.kind} value={one.kind}>
              {one.title}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
      {known && <p>{known.doc.split("\n\n")[0]}</p>}
    </>
  );
}

const NO_KINDS: Kind[] = [];

/** The check of an assertion: names of what the run measures are offered, with their units. */
function Check({ id, value, schema, onChange }: EditorProps) {
  const document = useEditor((state) => state.document);
  const { registry } = useRegistry();
  const { measurements: kinds = NO_KINDS, assertion_functions: functions = NO_KINDS } = registry;
  const measurements = useMemo(() => measurementsOf(kinds, document), [kinds, document]);
  return (
    <ExpressionEditor
      id={id}
      value={typeof value === "string" ? value : ""}
      placeholder={typeof schema.default === "string" ? schema.default : "latency_ms.p99 < 1000"}
      functions={functions}
      complete={(text, caret, wanted) => checkCompletionsAt(text, caret, measurements, functions, wanted)}
      onChange={(text) => onChange(text || undefined)}
    />
  );
}

const inputsOf = (operators: { id: string; kind: string }[], kinds: Map<string, Kind>) =>
  operators.flatMap((one) => (kinds.get(one.kind)?.inputs ?? []).map((port): PortRef => ({ operator: one.id, port, side: "in" })));

addEditors({
  kind: KindName,
  "operator-id": OperatorId,
  operator: OperatorName,
  host: HostName,
  region: RegionName,
  "own-region": OwnRegion,
  hosts: Hosts,
  dataset: DatasetName,
  "dataset-column": DatasetColumn,
  "input-port": Target,
  check: Check,
});
