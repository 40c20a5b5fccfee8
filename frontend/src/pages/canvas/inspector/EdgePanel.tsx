import type { Edge } from "../../../api/document";
import type { Json, Kind } from "../../../api/types";
import { DEFAULT_PORT } from "../../../model/document/document";
import { setEdge, type EdgeSettings } from "../../../model/document/edits";
import { propertyNames, schemaAt } from "../../../model/document/schema";
import { problemsAt } from "../../../model/document/validate";
import type { Write } from "../../../model/document/writes";
import { WriteArea } from "../../../session/may";
import { KindForm } from "../../../ui/form/KindForm";
import { Remarks } from "../../../ui/form/Remarks";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { Icon } from "../../../ui/Icon";
import { deleteSelection } from "../commands";
import { edit, editAt, select, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { SchemaList } from "./SchemaList";

/** Settings of an edge beside its partitioning. */
const SETTINGS = ["feedback", "fields", "capacity"];

type Fields = { [field: string]: Json };

export function EdgePanel({ edge, edgeId }: { edge: Edge; edgeId: string }) {
  const problems = useEditor((state) => state.problems);
  const schemas = useEditor((state) => state.schemas);
  const index = useEditor((state) => state.document.query.edges.indexOf(edge));
  const edges = useEditor((state) => state.document.query.edges);
  const { registry, schema: root } = useRegistry();
  const pointer = `/query/edges/${index}`;
  const schema = schemas[`${edge.source}.${edge.source_port ?? DEFAULT_PORT.source}`];
  const inForms = ["partitioning", ...SETTINGS].map((name) => `${pointer}/${name}`);
  const own = problemsAt(problems, pointer).filter((problem) => !inForms.some((form) => problem.pointer.startsWith(form)));
  const edgeSchema = schemaAt(root, ["query", "edges", "*"]);
  const portOf = (one: Edge) => `${one.target}.${one.target_port ?? DEFAULT_PORT.target}`;
  const declares = edge.fields || (edge.feedback && !edges.some((one) => !one.feedback && portOf(one) === portOf(edge)));
  const end = (id: string, port: string | undefined, plain: string) => (
    <button className="link" onClick={() => select({ operators: [id] })}>
      {id}
      {port && port !== plain ? `, ${port}` : ""}
    </button>
  );
  // Fields that a key can be chosen from: those of the records on this edge. The schema says only that a key is a text.
  const kinds = (registry.partitionings ?? []).map((kind) => withFieldEditor(kind, schema ? ["key"] : []));
  return (
    <>
      <WriteArea className="form first">
        <p className="doc">
          {end(edge.source, edge.source_port, DEFAULT_PORT.source)} → {end(edge.target, edge.target_port, DEFAULT_PORT.target)}
        </p>
        <Remarks problems={own} />
        <KindForm
          label="Partitioning"
          kinds={kinds}
          value={edge.partitioning}
          pointer={`${pointer}/partitioning`}
          problems={problems}
          records={schema ? { in: schema.fields } : {}}
          onChange={editAt(`${pointer}/partitioning`)}
        />
        {edgeSchema && (
          // What is wrong with the edge as a whole, a cycle say, leads here.
          <div data-pointer={pointer}>
            <SchemaForm
              schema={edgeSchema}
              value={{
                feedback: edge.feedback ?? false,
                ...(edge.fields ? { fields: edge.fields as Json } : {}),
                ...(edge.capacity == null ? {} : { capacity: edge.capacity }),
              }}
              pointer={pointer}
              problems={problems}
              omit={propertyNames(edgeSchema).filter((name) => !SETTINGS.includes(name) || (name === "fields" && !declares))}
              onChange={(write, group) => edit((before) => setEdge(before, edgeId, write as Write<EdgeSettings>), group)}
            />
          </div>
        )}
        {schema && <SchemaList title="Records on this edge" fields={schema.fields} bytes={schema.bytes} />}
      </WriteArea>
      <div className="actions">
        <button className="btn danger" onClick={deleteSelection}>
          <Icon name="trash" />
          Delete edge
        </button>
      </div>
    </>
  );
}

function withFieldEditor(kind: Kind, names: string[]): Kind {
  const properties = (kind.schema.properties ?? {}) as { [name: string]: Fields };
  const changed = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, names.includes(name) ? { "x-editor": "field", ...field } : field]),
  );
  return { ...kind, schema: { ...kind.schema, properties: changed } };
}
