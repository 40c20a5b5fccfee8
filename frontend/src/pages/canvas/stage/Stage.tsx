import {
  applyEdgeChanges,
  applyNodeChanges,
  Background,
  BackgroundVariant,
  getViewportForBounds,
  MiniMap,
  Position as Side,
  ReactFlow,
  useReactFlow,
  ViewportPortal,
  type Connection,
  type Edge,
  type EdgeChange,
  type FinalConnectionState,
  type Node,
  type NodeChange,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Edge as DocumentEdge, ExperimentDocument } from "../../../api/document";
import type { Kind, Problem } from "../../../api/types";
import { plural } from "../../../lib/format";
import { moveMs } from "../../../lib/motion";
import { DEFAULT_PORT, edgeKey, instancesOf } from "../../../model/document/document";
import { addEdge, moveOperators, placeOn } from "../../../model/document/edits";
import { summariseHosts } from "../../../model/document/hosts";
import { isError, problemsByPart } from "../../../model/document/validate";
import { connectionRefusal, newEdge, portsOf, type PortRef } from "../../../model/graph/graph";
import { DEPTH, hardwareOf, SHORE } from "../../../model/graph/hardware";
import { hostAt } from "../../../model/graph/hostTiles";
import { feedbackLane, NODE, nodeHeight, PORT, portAt, positionsOf } from "../../../model/graph/layout";
import type { Arrow } from "../../../model/graph/neighbours";
import { useRefusal } from "../../../session/who";
import { toast } from "../../../ui/toasts";
import { addItem, goAlong, PALETTE_TYPE, type PaletteItem } from "../commands";
import { edit, select, useEditor, type Selection } from "../editor";
import { useRegistry } from "../useRegistry";
import { ArrangeNote } from "./ArrangeNote";
import { ConnectionHint, LandingHint, portOf } from "./ConnectionHint";
import { EdgeLayer, type EdgeAt } from "./EdgeLayer";
import { Find } from "./Find";
import { HostGroupNode } from "./HostGroupNode";
import { OperatorNode } from "./OperatorNode";
import { PartitionEdge, type EdgeMarks } from "./PartitionEdge";
import { PlacementLines } from "./PlacementLines";
import { isLarge, useIsFar } from "./scale";
import { StageHeader } from "./StageHeader";
import { useArrange } from "./useArrange";

const NODE_TYPES = { operator: OperatorNode, hosts: HostGroupNode };

const EDGE_TYPES = { partition: PartitionEdge };

/** So far the water reaches beyond everything, px. */
const FAR = 200_000;
const NO_EDGE: EdgeAt = () => null;
/** Around so many selected operators edges have their labels also in a large query. */
const LABELLED_AROUND_MAX = 20;
const NOTHING_YET: Node[] = [];

/** Height that the stage's own header takes, px. */
const HEADER = 64;
const EDGE = 28;
/** A small query is not drawn smaller than this; a large one as small as it takes to see all of it. */
const ZOOM_MIN = 0.15;
const ZOOM_MAX = 1.36;
/** From here on what is looked for can be read. */
const READABLE_ZOOM = 0.7;

/** Sizes and ports as the style sheet draws them, so that nothing has to be measured, and what is not in view not even drawn. */
function operatorNodes(document: ExperimentDocument, kinds: Map<string, Kind>, before: Map<string, Node>, selected: string[]): Node[] {
  const positions = positionsOf(document);
  const chosen = new Set(selected);
  return document.query.operators.map((operator) => {
    const known = before.get(operator.id);
    const kind = kinds.get(operator.kind);
    const position = positions[operator.id] ?? { x: 0, y: 0 };
    const ariaLabel = `Operator ${operator.id}, ${operator.kind}, ${plural(instancesOf(operator), "instance")}`;
    const ports = portsOf(document, kind, operator.id);
    const handles = handlesOf(ports);
    const isSame =
      known?.position.x === position.x &&
      known.position.y === position.y &&
      known.selected === chosen.has(operator.id) &&
      known.ariaLabel === ariaLabel &&
      (known.handles === handles || (!kind && JSON.stringify(known.handles) === JSON.stringify(handles)));
    if (known && isSame) return known;
    const size = { width: NODE.width, height: nodeHeight(ports) };
    return { ...known, ...size, id: operator.id, type: "operator", position, data: {}, selected: chosen.has(operator.id), ariaLabel, handles, measured: size };
  });
}

type Ports = Pick<Kind, "inputs" | "outputs">;
const handlesByPorts = new WeakMap<Ports, NonNullable<Node["handles"]>>();

function handlesOf(ports: Ports): NonNullable<Node["handles"]> {
  const known = handlesByPorts.get(ports);
  if (known) return known;
  const port = (side: "in" | "out", ids: string[]) =>
    ids.map((id, row) => {
      const rim = portAt({ x: 0, y: 0 }, side, row);
      return {
        id,
        type: side === "in" ? ("target" as const) : ("source" as const),
        position: side === "in" ? Side.Left : Side.Right,
        x: side === "in" ? rim.x : rim.x - PORT.size,
        y: rim.y - PORT.size / 2,
        width: PORT.size,
        height: PORT.size,
      };
    });
  const handles = [...port("in", ports.inputs), ...port("out", ports.outputs)];
  handlesByPorts.set(ports, handles);
  return handles;
}

/** Edges that the flow draws one by one: all of a small query, else those that are selected or lead to what is. */
function singleEdges(document: ExperimentDocument, selection: Selection): DocumentEdge[] {
  if (!isLarge(document)) return document.query.edges;
  const operators = new Set(selection.operators.slice(0, LABELLED_AROUND_MAX));
  const keys = new Set(selection.edges);
  return document.query.edges.filter((edge) => operators.has(edge.source) || operators.has(edge.target) || keys.has(edgeKey(edge)));
}

function flowEdges(drawn: DocumentEdge[], document: ExperimentDocument, problems: Problem[], selection: Selection, before: Edge[]): Edge[] {
  const marked = problemsByPart(problems, document).edges;
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const chosen = new Set(selection.edges);
  return drawn.map((edge) => {
    const key = edgeKey(edge);
    const own = marked.get(key) ?? [];
    const data: EdgeMarks = {
      tone: own.some(isError) ? "err" : own.length ? "warn" : "",
      message: own[0]?.message ?? "",
      lane: edge.feedback ? feedbackLane(document, key) : -1,
    };
    const old = known.get(key);
    const selected = chosen.has(key);
    if (old && old.selected === selected && JSON.stringify(old.data) === JSON.stringify(data)) return old;
    return {
      id: key,
      type: "partition",
      source: edge.source,
      target: edge.target,
      sourceHandle: edge.source_port ?? DEFAULT_PORT.source,
      targetHandle: edge.target_port ?? DEFAULT_PORT.target,
      selected,
      data: data as unknown as Record<string, unknown>,
    };
  });
}

/** The canvas: query above the waterline, hardware below it. */
export function Stage() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const selection = useEditor((state) => state.selection);
  const isLanding = useEditor((state) => state.landing !== null);
  const id = useEditor((state) => state.id);
  const mayWrite = useRefusal() === null;
  const { kinds } = useRegistry();
  const flow = useReactFlow();
  const together = isLarge(document);
  const isFar = useIsFar();
  const hardware = useMemo(() => hardwareOf(document, kinds), [document, kinds]);
  const [nodes, setNodes] = useState<Node[]>([]);
  const [edges, setEdges] = useState<Edge[]>([]);
  const [over, setOver] = useState(false);
  const fitted = useRef("");
  /** A large query is not drawn before it is known from how far away. */
  const [isFitted, setFitted] = useState(false);
  const [zoomMin, setZoomMin] = useState(ZOOM_MIN);
  const edgeAt = useRef<EdgeAt>(NO_EDGE);
  const [pointed, setPointed] = useState<string | null>(null);
  const drawnSingly = useMemo(() => new Set(edges.map((edge) => edge.id)), [edges]);
  const stage = useRef<HTMLElement>(null);

  // The document is the truth; the flow keeps what it measured and, while dragging, where the pointer is.
  useEffect(() => {
    setNodes((now) => {
      const before = new Map(now.map((node) => [node.id, node]));
      const groups: Node[] = hardware.groups.map((group) => ({
        ...before.get(`hosts ${group.id}`),
        id: `hosts ${group.id}`,
        type: "hosts",
        position: { x: group.x, y: group.y },
        width: group.width,
        height: group.height,
        measured: { width: group.width, height: group.height },
        data: { group },
        draggable: false,
        selectable: false,
        focusable: false,
        deletable: false,
        connectable: false,
        zIndex: -1,
      }));
      return [...groups, ...operatorNodes(document, kinds, before, selection.operators)];
    });
    const single = together && isFar ? [] : singleEdges(document, selection);
    setEdges((now) => flowEdges(single, document, problems, selection, now));
  }, [document, kinds, hardware, problems, selection, together, isFar]);

  // From afar operators are drawn without ports, and the flow forgets where those are; a node that is new to it says so again.
  useEffect(() => setNodes((now) => now.map((node) => ({ ...node }))), [isFar]);

  const fit = useCallback(
    (duration = moveMs()) => {
      const size = stage.current?.getBoundingClientRect();
      const now = hardwareOf(useEditor.getState().document, kinds);
      if (!size) return;
      const right = Math.max(now.right, ...now.groups.map((group) => group.x + group.width));
      const bottom = Math.max(now.waterline + DEPTH, ...now.groups.map((group) => group.y + group.height));
      const box = { x: now.left, y: now.top, width: right - now.left, height: bottom - now.top };
      const viewport = getViewportForBounds(box, size.width, size.height, 0, ZOOM_MAX, {
        top: `${HEADER}px`,
        left: `${EDGE}px`,
        right: `${EDGE}px`,
        bottom: "24px",
      });
      // Where there is room to spare it goes to the bottom, under the hardware: the query begins at the top.
      viewport.y = Math.min(viewport.y, HEADER - now.top * viewport.zoom);
      setZoomMin(Math.min(ZOOM_MIN, viewport.zoom));
      void flow.setViewport(viewport, { duration });
    },
    [flow, kinds],
  );

  useEffect(() => {
    if (fitted.current === id || !flow.viewportInitialized) return;
    fitted.current = id;
    fit(0);
    setFitted(true);
  }, [id, flow.viewportInitialized, fit]);

  // What was searched or is wrong comes into view; a move of the view is no more than it needs.
  const revealed = useEditor((state) => state.revealed);
  useEffect(() => {
    const known = revealed.filter((node) => flow.getNode(node));
    const size = stage.current?.getBoundingClientRect();
    if (!known.length || !size) return;
    const { zoom } = flow.getViewport();
    const box = flow.getNodesBounds(known);
    const [from, to] = [flow.flowToScreenPosition(box), flow.flowToScreenPosition({ x: box.x + box.width, y: box.y + box.height })];
    const isIn = from.x >= size.left && from.y >= size.top + HEADER && to.x <= size.right && to.y <= size.bottom;
    if (isIn && zoom >= READABLE_ZOOM) return;
    const fits = Math.min(size.width / (box.width + 2 * EDGE), size.height / (box.height + 2 * HEADER));
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    void flow.setCenter(middle.x, middle.y, { zoom: Math.min(Math.max(zoom, READABLE_ZOOM), fits), duration: moveMs() });
  }, [revealed, flow]);

  const onArrow = (event: React.KeyboardEvent) => {
    if (!event.ctrlKey || !event.key.startsWith("Arrow") || (event.target as HTMLElement).closest("input")) return;
    event.preventDefault();
    event.stopPropagation(); // an arrow alone moves the operator
    goAlong(event.key as Arrow);
  };

  /** While the pointer drags, the end of the drag writes the document; arrow keys write it with each step. */
  const dragging = useRef(false);
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

  /** Over a host the drag says where it would land. */
  const onNodeDrag = useCallback(
    (event: React.MouseEvent | MouseEvent | TouchEvent, node: Node) => {
      if (!("clientX" in event)) return;
      const host = hostAt(hardware.groups, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }))?.name;
      const now = useEditor.getState().landing;
      if (host !== now?.host) useEditor.setState({ landing: host === undefined ? null : { operator: node.id, host } });
    },
    [flow, hardware],
  );

  /** The end of a drag is one step of undo: a move, or a placement when the pointer is over a host. */
  const onNodeDragStop = useCallback(
    (event: React.MouseEvent | MouseEvent | TouchEvent, node: Node, moved: Node[]) => {
      dragging.current = false;
      useEditor.setState({ landing: null });
      if (!("clientX" in event)) return;
      const point = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
      const back = () => setNodes((now) => operatorPositions(now, useEditor.getState().document));
      const tile = hostAt(hardware.groups, point);
      if (tile) {
        const current = useEditor.getState().placement;
        const hosts = event.shiftKey ? [...new Set([...(current[node.id] ?? []), tile.name])] : [tile.name];
        edit((before) => moved.reduce((next, one) => placeOn(next, one.id, hosts, current), before));
        toast(`${moved.map((one) => one.id).join(", ")} placed on ${summariseHosts(hosts)}. Hold Shift to add a host.`, { seconds: 4 });
        return back();
      }
      if (point.y > hardware.waterline) {
        toast("Below the waterline is hardware. Drop the operator on a host to place it there.", { tone: "warn", seconds: 4 });
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
    [flow, hardware],
  );

  const refusalOf = useCallback(
    (connection: Connection | Edge) => {
      const from: PortRef = { operator: connection.source, port: connection.sourceHandle ?? DEFAULT_PORT.source, side: "out" };
      const to: PortRef = { operator: connection.target, port: connection.targetHandle ?? DEFAULT_PORT.target, side: "in" };
      const { document, schemas } = useEditor.getState();
      return connectionRefusal(document, kinds, schemas, from, to);
    },
    [kinds],
  );

  const onConnect = useCallback((connection: Connection) => {
    const source: PortRef = { operator: connection.source, port: connection.sourceHandle ?? DEFAULT_PORT.source, side: "out" };
    const target: PortRef = { operator: connection.target, port: connection.targetHandle ?? DEFAULT_PORT.target, side: "in" };
    edit((before) => addEdge(before, newEdge(before, source, target)));
  }, []);

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

  const onDrop = (event: React.DragEvent) => {
    const text = event.dataTransfer.getData(PALETTE_TYPE);
    setOver(false);
    if (!text) return;
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const empty = !document.query.operators.length;
    addItem(
      JSON.parse(text) as PaletteItem,
      kinds,
      at.y > hardware.waterline && !empty ? { x: at.x, y: hardware.waterline - SHORE - 60 } : at,
    );
  };

  const { isArranging, arrange } = useArrange(fit);

  /** Edges that are drawn together are no elements of their own: what the pointer means is worked out. */
  const edgeUnder = (event: React.MouseEvent) =>
    event.target instanceof Element && event.target.classList.contains("react-flow__pane")
      ? edgeAt.current(flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false }))
      : null;
  const onPaneClick = (event: React.MouseEvent) => {
    const edge = edgeUnder(event);
    const { edges: chosen, operators } = useEditor.getState().selection;
    if (!edge) select({});
    else if (!event.ctrlKey && !event.metaKey) select({ edges: [edge] });
    else select({ operators, edges: chosen.includes(edge) ? chosen.filter((key) => key !== edge) : [...chosen, edge] });
  };

  return (
    <main
      ref={stage}
      className={`stage ${over ? "over" : ""} ${pointed ? "on-edge" : ""} ${isLanding ? "landing" : ""}`}
      aria-label="Canvas"
      data-testid="stage"
      onKeyDownCapture={onArrow}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes(PALETTE_TYPE)) {
          event.preventDefault();
          event.dataTransfer.dropEffect = "copy";
          setOver(true);
        }
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <ReactFlow
        nodes={isFitted ? nodes : NOTHING_YET}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onNodeDragStart={() => {
          dragging.current = true;
        }}
        onNodeDrag={onNodeDrag}
        onNodeDragStop={onNodeDragStop}
        onConnect={onConnect}
        onConnectEnd={onConnectEnd}
        isValidConnection={(connection) => refusalOf(connection) === null}
        onPaneClick={onPaneClick}
        onPaneMouseMove={together ? (event) => setPointed(edgeUnder(event)) : undefined}
        onPaneMouseLeave={() => setPointed(null)}
        onNodeClick={(event, node) => {
          // A click, other than a drag, on one of many means this one.
          const one = node.type === "operator" && !event.ctrlKey && !event.metaKey && !event.shiftKey;
          if (one && useEditor.getState().selection.operators.length > 1) select({ operators: [node.id] });
        }}
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
          <div
            className="water"
            style={{
              transform: `translate(${hardware.left - FAR}px, ${hardware.waterline}px)`,
              width: hardware.right - hardware.left + 2 * FAR,
              height: FAR,
            }}
          />
          <div className="lay" style={{ left: hardware.left, top: hardware.waterline + 14 }}>
            Hardware{" "}
            <span>
              {plural(
                hardware.groups.reduce((sum, group) => sum + group.hosts, 0),
                "host",
              )}
              , price list {document.prices ?? "reference"}
            </span>
          </div>
          {!document.query.operators.length && (
            <div className="hint" style={{ left: (hardware.left + hardware.right) / 2, top: hardware.top + 80 }}>
              <b>Draw a query.</b> Drag a source, then operators and a sink from the palette; connect them port to port.
            </div>
          )}
          {together && <EdgeLayer without={drawnSingly} pointed={pointed} at={edgeAt} />}
          <PlacementLines groups={hardware.groups} waterline={hardware.waterline} />
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
      {isArranging && <ArrangeNote onCancel={arrange} />}
      <StageHeader onFit={() => fit()} onArrange={arrange} isArranging={isArranging} empty={!document.query.operators.length} />
    </main>
  );
}

/**
 * What the flow has selected or let go becomes the selection at once. Asked for afterwards, the flow would tell what it was given before,
 * and the two would take turns for ever.
 */
function takeSelection(part: "operators" | "edges", changes: (NodeChange | EdgeChange)[]): void {
  const { selection } = useEditor.getState();
  const chosen = new Set(selection[part]);
  for (const change of changes) {
    if (change.type !== "select") continue;
    if (change.selected) chosen.add(change.id);
    else chosen.delete(change.id);
  }
  const next = [...chosen];
  if (next.length === selection[part].length && next.every((id, at) => id === selection[part][at])) return;
  const operators = part === "operators" ? next : selection.operators;
  const edges = part === "edges" ? next : selection.edges;
  const { host, fault } = selection;
  select(operators.length || edges.length ? { operators, edges } : { host, fault });
}

function operatorPositions(nodes: Node[], document: ExperimentDocument): Node[] {
  const positions = positionsOf(document);
  return nodes.map((node) => (positions[node.id] ? { ...node, position: positions[node.id] as { x: number; y: number } } : node));
}
