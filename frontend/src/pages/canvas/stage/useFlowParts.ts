import { applyEdgeChanges, applyNodeChanges, type Edge, type EdgeChange, type Node, type NodeChange } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState, type Dispatch, type SetStateAction } from "react";
import { moveOperators } from "../../../model/document/edits";
import type { Hardware } from "../../../model/graph/hardware";
import { edit, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { flowEdges, hostNodes, operatorNodes, singleEdges } from "./flowParts";
import { takeSelection } from "./flowSelection";
import { isLarge, useIsFar } from "./scale";

export interface FlowParts {
  nodes: Node[];
  edges: Edge[];
  /** Edges among them, by key: a large query has others that are drawn together. */
  drawnSingly: ReadonlySet<string>;
  setNodes: Dispatch<SetStateAction<Node[]>>;
  /** While the pointer drags, the end of the drag writes the document; arrow keys write it with each step. */
  setDragging: (isDragging: boolean) => void;
  onNodesChange: (changes: NodeChange[]) => void;
  onEdgesChange: (changes: EdgeChange[]) => void;
}

/** The flow's nodes and edges. The document is the truth; the flow keeps what it measured and, while dragging, where the pointer is. */
export function useFlowParts(hardware: Hardware): FlowParts {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const selection = useEditor((state) => state.selection);
  const { kinds } = useRegistry();
  const together = isLarge(document);
  const isFar = useIsFar();
  const [nodes, setNodes] = useState<Node[]>([]);
  const [edges, setEdges] = useState<Edge[]>([]);
  const drawnSingly = useMemo(() => new Set(edges.map((edge) => edge.id)), [edges]);
  const dragging = useRef(false);

  useEffect(() => {
    setNodes((now) => {
      const before = new Map(now.map((node) => [node.id, node]));
      return [...hostNodes(hardware.groups, before), ...operatorNodes(document, kinds, before, selection.operators)];
    });
    const single = together && isFar ? [] : singleEdges(document, selection);
    setEdges((now) => flowEdges(single, document, problems, selection, now));
  }, [document, kinds, hardware, problems, selection, together, isFar]);

  // From afar operators are drawn without ports, and the flow forgets where those are; a node that is new to it says so again.
  useEffect(() => setNodes((now) => now.map((node) => ({ ...node }))), [isFar]);

  const onNodesChange = useCallback((changes: NodeChange[]) => {
    takeSelection("operators", changes);
    setNodes((now) =>
      applyNodeChanges(
        changes.filter((change) => change.type !== "remove"),
        now,
      ),
    );
    if (dragging.current) return;
    const moved = changes.flatMap((change) =>
      change.type === "position" && change.position ? [[change.id, change.position] as const] : [],
    );
    if (moved.length) edit((before) => moveOperators(before, Object.fromEntries(moved)), `arrows ${moved.map(([id]) => id).join()}`);
  }, []);
  const onEdgesChange = useCallback((changes: EdgeChange[]) => {
    takeSelection("edges", changes);
    setEdges((now) =>
      applyEdgeChanges(
        changes.filter((change) => change.type !== "remove"),
        now,
      ),
    );
  }, []);
  const setDragging = useCallback((isDragging: boolean) => {
    dragging.current = isDragging;
  }, []);
  return { nodes, edges, drawnSingly, setNodes, setDragging, onNodesChange, onEdgesChange };
}
