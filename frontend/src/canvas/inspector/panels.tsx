/** The inspector's other panels: edge, host, several operators, nothing; and the experiment's workload, policies, measurement. */
import { useEffect, useState } from "react";
import type { Family, Json, Kind } from "../../api/types";
import { DEFAULT_PORT, patchEdge, replaceHost, type Edge, type ExperimentDocument, type Host, type Tagged } from "../../model/document";
import { partitioningLabel } from "../../model/graph";
import { hostNames, summariseHosts } from "../../model/hosts";
import { initialValue, labelOf, propertyNames, schemaAt } from "../../model/schema";
import { problemsAt } from "../../model/validate";
import { KindForm } from "../../ui/form/KindForm";
import { Remarks } from "../../ui/form/fields";
import { SchemaForm } from "../../ui/form/SchemaForm";
import { Icon } from "../../ui/Icon";
import { latency, plural } from "../../ui/format";
import { changeParallelism, deleteSelection, duplicateSelection } from "../commands";
import { edit, select, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { SchemaList } from "./OperatorPanel";
import { Section } from "./Section";

type Fields = { [field: string]: Json };

export function EdgePanel({ edge, edgeId }: { edge: Edge; edgeId: string }) {
  const problems = useEditor((state) => state.problems);
  const schemas = useEditor((state) => state.schemas);
  const index = useEditor((state) => state.document.query.edges.indexOf(edge));
  const { registry } = useRegistry();
  const pointer = `/query/edges/${index}`;
  const schema = schemas[`${edge.source}.${edge.source_port ?? DEFAULT_PORT.source}`];
  const own = problemsAt(problems, pointer).filter((problem) => !problem.pointer.startsWith(`${pointer}/partitioning`));
  const end = (id: string, port: string | undefined, plain: string) => (
    <button className="link" onClick={() => select({ operators: [id] })}>{id}{port && port !== plain ? `, ${port}` : ""}</button>
  );
  // Fields that a key can be chosen from: those of the records on this edge. The schema says only that a key is a text.
  const kinds = (registry.partitionings ?? []).map((kind) => withFieldEditor(kind, schema ? ["key"] : []));
  return (
    <>
      <div className="form first">
        <p className="doc">{end(edge.source, edge.source_port, DEFAULT_PORT.source)} → {end(edge.target, edge.target_port, DEFAULT_PORT.target)}</p>
        <Remarks problems={own} />
        <KindForm label="Partitioning" kinds={kinds} value={edge.partitioning} pointer={`${pointer}/partitioning`} problems={problems} records={schema ? { in: schema.fields } : {}}
          onChange={(partitioning, path) => edit((before) => patchEdge(before, edgeId, { partitioning }), path)} />
        {schema && <SchemaList title="Records on this edge" fields={schema.fields} bytes={schema.bytes} />}
      </div>
      <div className="actions"><button className="btn danger" onClick={deleteSelection}><Icon name="trash" />Delete edge</button></div>
    </>
  );
}

function withFieldEditor(kind: Kind, names: string[]): Kind {
  const properties = (kind.schema.properties ?? {}) as { [name: string]: Fields };
  const changed = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, names.includes(name) ? { "x-editor": "field", ...field } : field]));
  return { ...kind, schema: { ...kind.schema, properties: changed } };
}

export function HostPanel({ host, index }: { host: Host; index: number }) {
  const problems = useEditor((state) => state.problems);
  const { registry, schema: root } = useRegistry();
  const pointer = `/cluster/hosts/${index}`;
  const schema = schemaAt(root, ["cluster", "hosts", "*"]);
  const own = problems.filter((problem) => problem.pointer === pointer);
  const change = (next: Host, path: string) => edit((before) => replaceHost(before, index, next), path);
  const { processor, ...rest } = host;
  const processors = registry.processors ?? [];
  return (
    <>
      <div className="form first">
        <p className="doc">{hostNames(host).length === 1 ? hostNames(host)[0] : `${summariseHosts(hostNames(host))}, ${plural(hostNames(host).length, "equal machine")}`}</p>
        <Remarks problems={own} />
        {schema && <SchemaForm key={index} schema={schema} value={rest as unknown as Fields} pointer={pointer} problems={problems} omit={["processor"]}
          onChange={(value, path) => change({ ...(value as unknown as Host), ...(processor ? { processor } : {}) }, path)} />}
        {processors.length > 0 && <KindForm label="Processor" kinds={processors} value={processor ?? defaultOf(schema, "processor")} pointer={`${pointer}/processor`} problems={problems}
          onChange={(value, path) => change({ ...host, processor: value }, path)} />}
      </div>
      <div className="actions"><button className="btn danger" onClick={deleteSelection}><Icon name="trash" />Delete {hostNames(host).length > 1 ? "these hosts" : "host"}</button></div>
    </>
  );
}

const defaultOf = (schema: { [key: string]: Json } | undefined, name: string): Tagged | undefined => {
  const field = (schema?.properties as { [name: string]: Fields } | undefined)?.[name];
  return (field?.default as Tagged | undefined) ?? undefined;
};

export function ManyPanel({ ids }: { ids: string[] }) {
  return (
    <div className="form first">
      <p className="doc">{plural(ids.length, "operator")} selected: {ids.join(", ")}</p>
      <div className="two">
        <button className="btn" onClick={() => changeParallelism(ids, -1)}><Icon name="minus" />Instance</button>
        <button className="btn" onClick={() => changeParallelism(ids, 1)}><Icon name="plus" />Instance</button>
      </div>
      <div className="two">
        <button className="btn" onClick={duplicateSelection}><Icon name="copy" />Duplicate</button>
        <button className="btn danger" onClick={deleteSelection}><Icon name="trash" />Delete</button>
      </div>
    </div>
  );
}

export function NothingPanel() {
  const document = useEditor((state) => state.document);
  const hash = useEditor((state) => state.hash);
  const problems = useEditor((state) => state.problems).filter((problem) => problem.pointer === "" || ["/description", "/name", "/format", "/ui"].includes(problem.pointer));
  const [text, setText] = useState(document.description ?? "");
  useEffect(() => setText(document.description ?? ""), [document.description]);
  return (
    <div className="form first">
      <Remarks problems={problems} />
      <p className="doc">Select an operator, an edge or a host to see and change it.</p>
      <div className="field" data-pointer="/description">
        <label htmlFor="description">Description<i>does not count for the hash</i></label>
        <div className="in prose"><textarea id="description" rows={4} value={text} placeholder="What this experiment asks" onChange={(event) => setText(event.target.value)}
          onBlur={() => text !== (document.description ?? "") && edit((before) => ({ ...before, description: text }))} /></div>
      </div>
      <div className="field"><label>Hash<i>{hash ? "names the experiment" : "known when there is no error"}</i></label><p className="mono hash">{hash ?? "–"}</p></div>
    </div>
  );
}

export function WorkloadPanel() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { schema: root, kinds, streamTitles } = useRegistry();
  const schema = schemaAt(root, ["workload"]);
  const sources = document.query.operators.filter((operator) => (kinds.get(operator.kind)?.inputs.length ?? 1) === 0);
  const { sources: _sources, ...rest } = document.workload;
  return (
    <>
      <div className="form first">
        <Remarks problems={problems.filter((problem) => problem.pointer === "/workload" || problem.pointer === "/workload/sources")} />
        {schema && <SchemaForm schema={schema} value={rest as Fields} pointer="/workload" problems={problems} omit={["sources"]}
          onChange={(value, path) => edit((before) => ({ ...before, workload: { ...(value as ExperimentDocument["workload"]), sources: before.workload.sources } }), path)} />}
      </div>
      <Section title="Sources" summary={String(sources.length)}>
        {!sources.length && <p className="mut small">No source yet. Drag one from the palette.</p>}
        {sources.map((operator) => {
          const workload = document.workload.sources[operator.id];
          return (
            <button key={operator.id} className="row" onClick={() => select({ operators: [operator.id] })}>
              <b className="ell">{operator.id}</b><span className="ell">{workload ? `${streamTitles.get(workload.stream.kind) ?? workload.stream.kind}, ${rateSummary(workload.rate)}` : "no workload"}</span><Icon name="right" small />
            </button>
          );
        })}
      </Section>
    </>
  );
}

export function rateSummary(rate: Tagged | undefined): string {
  if (!rate) return "no rate";
  if (rate.kind === "constant") return `${Number(rate.per_s ?? 1000).toLocaleString("en-US")}/s`;
  if (rate.kind === "recorded") return `own times, ${String(rate.speed ?? 1)} ×`;
  return rate.kind;
}

/** Family of the registry for a policy's name: flow_control is chosen among flow_controls. */
const familyOf = (name: string) => `${name}s` as Family;

export function PoliciesPanel() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { registry, schema: root } = useRegistry();
  const policies = schemaAt(root, ["policies"]);
  const names = [...new Set([...propertyNames(policies), ...Object.keys(document.policies ?? {})])];
  const cluster = schemaAt(root, ["cluster"]);
  const title = (family: Family, kind: string | undefined) => registry[family]?.find((one) => one.kind === kind)?.title ?? kind ?? "";
  const setPolicy = (name: string, value: Tagged, path: string) => edit((before) => ({ ...before, policies: { ...before.policies, [name]: value } }), path);
  const { hosts: _hosts, ...network } = document.cluster;
  const explicit = Object.keys(document.placement.hosts ?? {}).length;
  return (
    <>
      <Section title="Placement" summary={title("placements", document.placement.kind)}>
        <KindForm label="Placement" bare kinds={registry.placements ?? []} value={document.placement} pointer="/placement" problems={problems} omit={["hosts"]} onChange={(value, path) => edit((before) => ({
          // Switching to explicit starts from where everything stands now, so that nothing moves.
          ...before, placement: value.kind === "explicit" ? { ...value, hosts: before.placement.hosts ?? uniqueHosts(useEditor.getState().placement) } : { kind: value.kind, ...omitHosts(value) },
        }), path)} />
        {document.placement.kind === "explicit" && <p className="mut small">{plural(explicit, "operator")} placed. Drop an operator on a host to move it, or edit its host names.</p>}
        <Remarks problems={problems.filter((problem) => problem.pointer === "/placement/hosts" || (problem.pointer.startsWith("/placement/hosts/") && !document.query.operators.some((operator) => problem.pointer.startsWith(`/placement/hosts/${operator.id}`))))} />
      </Section>
      {names.map((name) => {
        const kinds = registry[familyOf(name)] ?? [];
        const field = policies && schemaAt(root, ["policies", name]);
        const value = (document.policies?.[name] as Tagged | undefined) ?? defaultOf(policies, name);
        return (
          <Section key={name} title={labelOf(name, field)} summary={title(familyOf(name), value?.kind)}>
            <KindForm label={labelOf(name, field)} bare kinds={kinds} value={value} pointer={`/policies/${name}`} problems={problems} onChange={(next, path) => setPolicy(name, next, path)} />
          </Section>
        );
      })}
      <Section title="Prices" summary={title("prices", document.prices ?? "reference")} open={false}>
        <div className="field" data-pointer="/prices">
          <label htmlFor="prices" className="vh">Price list</label>
          <div className="in"><select id="prices" value={document.prices ?? "reference"} onChange={(event) => edit((before) => ({ ...before, prices: event.target.value }))}>
            {!(registry.prices ?? []).some((one) => one.kind === (document.prices ?? "reference")) && <option value={document.prices}>{document.prices} (unknown)</option>}
            {(registry.prices ?? []).map((one) => <option key={one.kind} value={one.kind}>{one.title}</option>)}
          </select><Icon name="down" /></div>
          <p>{registry.prices?.find((one) => one.kind === (document.prices ?? "reference"))?.doc.split("\n\n")[0]}</p>
          <Remarks problems={problems.filter((problem) => problem.pointer === "/prices")} />
        </div>
      </Section>
      <Section title="Network" summary={`local ${latency((document.cluster.local_latency_ns ?? 1000) / 1e6).join(" ")}, ${plural(document.cluster.links?.length ?? 0, "link")}`} open={false}>
        {cluster && <SchemaForm schema={cluster} value={network as Fields} pointer="/cluster" problems={problems} omit={["hosts"]}
          onChange={(value, path) => edit((before) => ({ ...before, cluster: { ...(value as Partial<ExperimentDocument["cluster"]>), hosts: before.cluster.hosts } }), path)} />}
      </Section>
    </>
  );
}

const uniqueHosts = (placement: Record<string, string[]>) => Object.fromEntries(Object.entries(placement).map(([id, names]) => [id, [...new Set(names)]]));
const omitHosts = (value: Tagged) => Object.fromEntries(Object.entries(value).filter(([name]) => name !== "hosts"));

export function MeasurementPanel() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { schema: root } = useRegistry();
  const schema = schemaAt(root, ["measurement"]);
  return (
    <div className="form first">
      {schema && <SchemaForm schema={schema} value={document.measurement ?? initialValue(schema)} pointer="/measurement" problems={problems}
        onChange={(measurement, path) => edit((before) => ({ ...before, measurement }), path)} />}
      <Remarks problems={problemsAt(problems, "/backend")} />
    </div>
  );
}

export const edgeTitle = (edge: Edge) => `${edge.source} → ${edge.target}, ${partitioningLabel(edge.partitioning)}`;
