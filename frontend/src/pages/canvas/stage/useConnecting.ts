import type { Connection, Edge, FinalConnectionState } from "@xyflow/react";
import { useCallback } from "react";
import { DEFAULT_PORT } from "../../../model/document/document";
import { addEdge } from "../../../model/document/edits";
import { connectionRefusal, newEdge, type PortRef } from "../../../model/graph/graph";
import { toast } from "../../../ui/toasts";
import { edit, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { portOf } from "./ConnectionHint";

const sourceOf = (connection: Connection | Edge): PortRef => ({
  operator: connection.source,
  port: connection.sourceHandle ?? DEFAULT_PORT.source,
  side: "out",
});
const targetOf = (connection: Connection | Edge): PortRef => ({
  operator: connection.target,
  port: connection.targetHandle ?? DEFAULT_PORT.target,
  side: "in",
});

/** Drawing an edge from port to port. */
export function useConnecting() {
  const { kinds } = useRegistry();

  const refusalOf = useCallback(
    (connection: Connection | Edge) => {
      const { document, schemas } = useEditor.getState();
      return connectionRefusal(document, kinds, schemas, sourceOf(connection), targetOf(connection));
    },
    [kinds],
  );
  const isValidConnection = useCallback((connection: Connection | Edge) => refusalOf(connection) === null, [refusalOf]);

  const onConnect = useCallback(
    (connection: Connection) => {
      const why = refusalOf(connection); // what records flow may have become known since the pointer last moved
      if (why) return void toast(why, { tone: "warn" });
      edit((before) => addEdge(before, newEdge(before, sourceOf(connection), targetOf(connection))));
    },
    [refusalOf],
  );

  /** A connection that was let go on a port which does not take it: say why. */
  const onConnectEnd = useCallback(
    (_event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
      const { fromHandle, toHandle } = state;
      if (state.isValid || !fromHandle || !toHandle) return;
      const { document, schemas } = useEditor.getState();
      const why = connectionRefusal(document, kinds, schemas, portOf(fromHandle), portOf(toHandle));
      if (why) toast(why, { tone: "warn" });
    },
    [kinds],
  );
  return { isValidConnection, onConnect, onConnectEnd };
}
