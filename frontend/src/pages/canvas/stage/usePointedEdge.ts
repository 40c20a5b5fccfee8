import { useReactFlow } from "@xyflow/react";
import { useRef, useState, type MouseEvent } from "react";
import { select, useEditor } from "../editor";
import type { EdgeAt } from "./EdgeLayer";

const NO_EDGE: EdgeAt = () => null;

/** Edges that are drawn together are no elements of their own: which of them the pointer means is worked out. */
export function usePointedEdge(together: boolean) {
  const flow = useReactFlow();
  const edgeAt = useRef<EdgeAt>(NO_EDGE);
  const [pointed, setPointed] = useState<string | null>(null);

  const edgeUnder = (event: MouseEvent) =>
    event.target instanceof Element && event.target.classList.contains("react-flow__pane")
      ? edgeAt.current(flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false }))
      : null;
  const onPaneClick = (event: MouseEvent) => {
    const edge = edgeUnder(event);
    const { edges: chosen, operators } = useEditor.getState().selection;
    if (!edge) select({});
    else if (!event.ctrlKey && !event.metaKey) select({ edges: [edge] });
    else select({ operators, edges: chosen.includes(edge) ? chosen.filter((key) => key !== edge) : [...chosen, edge] });
  };
  const onPaneMouseMove = together ? (event: MouseEvent) => setPointed(edgeUnder(event)) : undefined;
  const onPaneMouseLeave = () => setPointed(null);
  return { edgeAt, pointed, pane: { onPaneClick, onPaneMouseMove, onPaneMouseLeave } };
}
