import type { Kind } from "../../api/types";
import { addEdge, DEFAULT_PORT, type Operator } from "../../model/document";
import { closesCycle, connectionRefusal, newEdge, type PortRef } from "../../model/graph";
import { Icon } from "../../ui/Icon";
import { edit, useEditor } from "../editor";

/** Connecting by keyboard: choose an input of another operator. Those that cannot be chosen say why. */
export function ConnectField({ operator, kinds }: { operator: Operator; kinds: Map<string, Kind> }) {
  const document = useEditor((state) => state.document);
  const outputs = kinds.get(operator.kind)?.outputs ?? [];
  const targets = document.query.operators.flatMap((one) =>
    (kinds.get(one.kind)?.inputs ?? []).map((port): PortRef => ({ operator: one.id, port, side: "in" })),
  );
  if (!outputs.length) return <p className="mut small">{operator.id} has no output: records end here.</p>;
  return outputs.map((output) => {
    const source: PortRef = { operator: operator.id, port: output, side: "out" };
    return (
      <div className="field" key={output}>
        <label htmlFor={`connect-${output}`}>Connect {output} to</label>
        <div className="in">
          <select
            id={`connect-${output}`}
            data-connect
            value=""
            onChange={(event) => {
              const target = targets[Number(event.target.value)];
              if (target) edit((before) => addEdge(before, newEdge(before, source, target)));
            }}
          >
            <option value="">choose an input</option>
            {targets.map((target, at) => {
              const why = connectionRefusal(document, kinds, source, target);
              return (
                <option key={at} value={at} disabled={why !== null}>
                  {target.operator}
                  {target.port === DEFAULT_PORT.target ? "" : `, ${target.port}`}
                  {why ? ` (${why})` : closesCycle(document, operator.id, target.operator) ? " (feedback)" : ""}
                </option>
              );
            })}
          </select>
          <Icon name="down" />
        </div>
      </div>
    );
  });
}
