import { useConnection, type Handle } from "@xyflow/react";
import { DEFAULT_PORT } from "../../../model/document/document";
import { connectionNote, connectionRefusal, type PortRef } from "../../../model/graph/graph";
import { Icon } from "../../../ui/Icon";
import { useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

export function portOf(handle: Pick<Handle, "id" | "nodeId" | "type">): PortRef {
  const side = handle.type === "source" ? "out" : "in";
  return { operator: handle.nodeId, port: handle.id ?? (side === "out" ? DEFAULT_PORT.source : DEFAULT_PORT.target), side };
}

/** While a connection is dragged over a port: why it will not be taken, or that it becomes a feedback edge. */
export function ConnectionHint() {
  const from = useConnection((connection) => connection.fromHandle);
  const to = useConnection((connection) => connection.toHandle);
  const document = useEditor((state) => state.document);
  const schemas = useEditor((state) => state.schemas);
  const { kinds } = useRegistry();
  if (!from || !to || from === to || (from.nodeId === to.nodeId && from.id === to.id && from.type === to.type)) return null;
  const refusal = connectionRefusal(document, kinds, schemas, portOf(from), portOf(to));
  const note = refusal ? null : connectionNote(document, schemas, portOf(from), portOf(to));
  if (!refusal && !note) return null;
  return (
    <p className={`connecting ${refusal ? "err" : note?.fits ? "" : "warn"}`} role="status" data-testid="connection-hint">
      <Icon name={refusal ? "crossc" : note?.fits ? "feedback" : "warn"} />
      {refusal ?? note?.message}
    </p>
  );
}

/** While an operator is dragged over a host: that it would be placed there. */
export function LandingHint() {
  const landing = useEditor((state) => state.landing);
  if (!landing) return null;
  return (
    <p className="connecting" role="status" data-testid="landing-hint">
      <Icon name="host" />
      Drop to place {landing.operator} on {landing.host}; hold Shift to add {landing.host} to its hosts.
    </p>
  );
}
