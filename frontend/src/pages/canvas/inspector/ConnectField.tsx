import type { Operator } from "../../../api/document";
import type { Json, JsonSchema, Kind } from "../../../api/types";
import { schemaAt } from "../../../model/document/schema";
import type { PortRef } from "../../../model/graph/graph";
import { SchemaForm } from "../../../ui/form/SchemaForm";
import { useRegistry } from "../useRegistry";
import "./editors";

const nothing = () => undefined;

/** For each output, the input that its records are to go to: what the schema of edges calls their target. */
export function ConnectField({ operator, kinds }: { operator: Operator; kinds: Map<string, Kind> }) {
  const { schema: root } = useRegistry();
  const target = schemaAt(root, ["query", "edges", "*", "target"]);
  const outputs = kinds.get(operator.kind)?.outputs ?? [];
  if (!outputs.length) return <p className="mut small">{operator.id} has no output: records end here.</p>;
  if (!target) return null;
  const fields = outputs.map((port): [string, JsonSchema] => {
    const source: PortRef = { operator: operator.id, port, side: "out" };
    return [port, { ...target, title: `Connect ${port} to`, "x-source": source as unknown as Json }];
  });
  const schema: JsonSchema = { type: "object", properties: Object.fromEntries(fields) };
  return <SchemaForm key={operator.id} schema={schema} value={{}} pointer="" problems={[]} idPrefix="connect" onChange={nothing} />;
}
