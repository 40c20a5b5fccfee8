import { useReactFlow, type Node } from "@xyflow/react";
import { useCallback } from "react";
import { moveOperators, placeOn } from "../../../model/document/edits";
import { summariseHosts } from "../../../model/document/hosts";
import type { Hardware } from "../../../model/graph/hardware";
import { hostAt } from "../../../model/graph/hostTiles";
import { positionsOf } from "../../../model/graph/layout";
import { toast } from "../../../ui/toasts";
import { edit, useEditor } from "../editor";
import { atTheirPlaces } from "./flowParts";
import type { FlowParts } from "./useFlowParts";

type PointerEvent = React.MouseEvent | MouseEvent | TouchEvent;

/** Dragging operators: to another place, or onto a host. */
export function useOperatorDrag(hardware: Hardware, { setNodes, setDragging }: Pick<FlowParts, "setNodes" | "setDragging">) {
  const flow = useReactFlow();

  const onNodeDragStart = useCallback(() => setDragging(true), [setDragging]);

  /** Over a host the drag says where it would land. */
  const onNodeDrag = useCallback(
    (event: PointerEvent, node: Node) => {
      if (!("clientX" in event)) return;
      const host = hostAt(hardware.groups, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }))?.name;
      const now = useEditor.getState().landing;
      if (host !== now?.host) useEditor.setState({ landing: host === undefined ? null : { operator: node.id, host } });
    },
    [flow, hardware],
  );

  /** The end of a drag is one step of undo: a move, or a placement when the pointer is over a host. */
  const onNodeDragStop = useCallback(
    (event: PointerEvent, node: Node, moved: Node[]) => {
      setDragging(false);
      useEditor.setState({ landing: null });
      if (!("clientX" in event)) return;
      const point = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
      const back = () => setNodes((now) => atTheirPlaces(now, useEditor.getState().document));
      const tile = hostAt(hardware.groups, point);
      if (tile) {
        const current = useEditor.getState().placement;
        const hosts = event.shiftKey ? [...new Set([...(current[node.id] ?? []), tile.name])] : [tile.name];
        edit((before) => moved.reduce((next, one) => placeOn(next, one.id, hosts, current), before));
        toast(`${moved.map((one) => one.id).join(", ")} placed on ${summariseHosts(hosts)}. Hold Shift to add a host.`, { seconds: 4 });
        return back();
      }
      if (point.y > hardware.waterline) {
        toast("The hardware is below the waterline. Drop the operator on a host to place it there.", { tone: "warn", seconds: 4 });
        return back();
      }
      const positions = Object.fromEntries(
        moved
          .filter((one) => one.type === "operator")
          .map((one) => [one.id, { x: Math.round(one.position.x), y: Math.round(one.position.y) }]),
      );
      const before = positionsOf(useEditor.getState().document);
      if (Object.entries(positions).some(([key, at]) => before[key]?.x !== at.x || before[key]?.y !== at.y))
        edit((now) => moveOperators(now, positions));
    },
    [flow, hardware, setNodes, setDragging],
  );
  return { onNodeDragStart, onNodeDrag, onNodeDragStop };
}
