/** Editors that need to know the whole document: an operator's id, its hosts, and where its records go. */
import type { Family, Kind } from "../../api/types";
import { DEFAULT_PORT, addEdge, MAX_OPERATOR_ID } from "../../model/document";
import { closesCycle, connectionRefusal, newEdge, type PortRef } from "../../model/graph";
import { expandHosts } from "../../model/hosts";
import { addEditors, CommittedText, type EditorProps } from "../../ui/form/editors";
import { Icon } from "../../ui/Icon";
import { edit, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

/** Renaming happens when the field is left, everywhere at once; a name that cannot be says why and changes nothing. */
function OperatorId({ id, value, schema, onChange }: EditorProps) {
  const operators = useEditor((state) => state.document.query.operators);
  const pattern = typeof schema.pattern === "string" ? new RegExp(schema.pattern) : /./;
  const refusal = (text: string) =>
    text.length > MAX_OPERATOR_ID || !pattern.test(text)
      ? "This cannot be an id."
      : operators.some((one) => one.id === text)
        ? `There is another operator called ${text}.`
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

/** Connecting by keyboard: choose an input of another operator. Those that cannot be chosen say why. */
function Target({ id, schema, onChange }: EditorProps) {
  const document = useEditor((state) => state.document);
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
          const why = connectionRefusal(document, kinds, source, target);
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

const inputsOf = (operators: { id: string; kind: string }[], kinds: Map<string, Kind>) =>
  operators.flatMap((one) => (kinds.get(one.kind)?.inputs ?? []).map((port): PortRef => ({ operator: one.id, port, side: "in" })));

addEditors({ kind: KindName, "operator-id": OperatorId, hosts: Hosts, "input-port": Target });
