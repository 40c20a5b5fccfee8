import { Background, BackgroundVariant, MiniMap, ReactFlow, ViewportPortal, type Node } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useMemo, useRef } from "react";
import { hardwareOf } from "../../../model/graph/hardware";
import type { Arrow } from "../../../model/graph/neighbours";
import { useRefusal } from "../../../session/who";
import { goAlong } from "../commands";
import { select, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { ArrangeNote } from "./ArrangeNote";
import { ConnectionHint, LandingHint } from "./ConnectionHint";
import { EdgeLayer } from "./EdgeLayer";
import { Find } from "./Find";
import { Ground } from "./Ground";
import { HostGroupNode } from "./HostGroupNode";
import { OperatorNode } from "./OperatorNode";
import { PartitionEdge } from "./PartitionEdge";
import { PlacementLines } from "./PlacementLines";
import { PreviewHint, PreviewLines } from "./PreviewLines";
import { RegionLinks } from "./RegionLinks";
import { isLarge, useIsFar } from "./scale";
import { StageHeader } from "./StageHeader";
import { useArrange } from "./useArrange";
import { useConnecting } from "./useConnecting";
import { useFlowParts } from "./useFlowParts";
import { useOperatorDrag } from "./useOperatorDrag";
import { usePaletteDrop } from "./usePaletteDrop";
import { usePointedEdge } from "./usePointedEdge";
import { useView } from "./useView";

const NODE_TYPES = { operator: OperatorNode, hosts: HostGroupNode };

const EDGE_TYPES = { partition: PartitionEdge };

const NOTHING_YET: Node[] = [];

/** The canvas: query above the waterline, hardware below it. */
export function Stage() {
  const document = useEditor((state) => state.document);
  const isLanding = useEditor((state) => state.landing !== null);
  const mayWrite = useRefusal() === null;
  const { kinds } = useRegistry();
  const together = isLarge(document);
  const isFar = useIsFar();
  const stage = useRef<HTMLElement>(null);
  const hardware = useMemo(() => hardwareOf(document, kinds), [document, kinds]);
  const parts = useFlowParts(hardware);
  const { fit, isFitted, zoomMin } = useView(stage);
  const drag = useOperatorDrag(hardware, parts);
  const connecting = useConnecting();
  const { isOver, drop } = usePaletteDrop(hardware);
  const { edgeAt, pointed, pane } = usePointedEdge(together);
  const { isArranging, arrange } = useArrange(fit);

  return (
    <main
      ref={stage}
      className={`stage ${isOver ? "over" : ""} ${pointed ? "on-edge" : ""} ${isLanding ? "landing" : ""}`}
      aria-label="Canvas"
      data-testid="stage"
      onKeyDownCapture={onArrow}
      {...drop}
    >
      <ReactFlow
        nodes={isFitted ? parts.nodes : NOTHING_YET}
        edges={parts.edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={parts.onNodesChange}
        onEdgesChange={parts.onEdgesChange}
        {...drag}
        {...connecting}
        {...pane}
        onNodeClick={onNodeClick}
        onNodeMouseEnter={(_event, node) => node.type === "operator" && useEditor.setState({ hovered: node.id })}
        onNodeMouseLeave={() => useEditor.setState({ hovered: null })}
        onlyRenderVisibleElements={together && !isFar}
        onMoveStart={() => stage.current?.classList.add("moving")}
        onMoveEnd={() => stage.current?.classList.remove("moving")}
        deleteKeyCode={null}
        nodesDraggable={mayWrite}
        nodesConnectable={mayWrite}
        snapToGrid
        snapGrid={[8, 8]}
        minZoom={zoomMin}
        maxZoom={2}
        connectionRadius={24}
        elevateNodesOnSelect={false}
        attributionPosition="bottom-left"
        panOnScroll
        zoomOnDoubleClick={false}
        selectionKeyCode="Shift"
        multiSelectionKeyCode={["Control", "Meta"]}
      >
        <Background variant={BackgroundVariant.Dots} gap={16} size={1.2} color="var(--grid)" />
        <ViewportPortal>
          <Ground hardware={hardware} />
          {together && <EdgeLayer without={parts.drawnSingly} pointed={pointed} at={edgeAt} />}
          <RegionLinks ways={hardware.regionLinks} />
          <PlacementLines groups={hardware.groups} waterline={hardware.waterline} />
          <PreviewLines groups={hardware.groups} waterline={hardware.waterline} />
        </ViewportPortal>
        <MiniMap
          pannable
          zoomable
          className="minimap"
          nodeBorderRadius={4}
          nodeStrokeWidth={0}
          ariaLabel="Overview"
          nodeColor={(node) => (node.type === "hosts" ? "color-mix(in srgb, var(--accent) 22%, var(--bg-surface))" : "var(--line-control)")}
        />
      </ReactFlow>
      <Find />
      <ConnectionHint />
      <LandingHint />
      <PreviewHint />
      {isArranging && <ArrangeNote onCancel={arrange} />}
      <StageHeader onFit={() => fit()} onArrange={arrange} isArranging={isArranging} empty={!document.query.operators.length} />
    </main>
  );
}

/** With Ctrl an arrow goes along an edge; alone it moves the operator. */
function onArrow(event: React.KeyboardEvent): void {
  if (!event.ctrlKey || !event.key.startsWith("Arrow") || (event.target as HTMLElement).closest("input")) return;
  event.preventDefault();
  event.stopPropagation();
  goAlong(event.key as Arrow);
}

/** A click, other than a drag, on one of many means this one. */
function onNodeClick(event: React.MouseEvent, node: Node): void {
  const one = node.type === "operator" && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (one && useEditor.getState().selection.operators.length > 1) select({ operators: [node.id] });
}
