/** The document as nodes and edges of the flow. What has not changed stays the same object, so that it is not drawn again. */
import { Position as Side, type Edge, type Node } from "@xyflow/react";
import type { Edge as DocumentEdge, ExperimentDocument } from "../../../api/document";
import type { Kind, Problem } from "../../../api/types";
import { plural } from "../../../lib/format";
import { DEFAULT_PORT, edgeKey, instancesOf } from "../../../model/document/document";
import { problemsByPart, worstTone } from "../../../model/document/validate";
import { portsOf } from "../../../model/graph/graph";
import type { HostGroup } from "../../../model/graph/hostTiles";
import { feedbackLane, NODE, nodeHeight, PORT, portAt, positionsOf } from "../../../model/graph/layout";
import type { Selection } from "../editor";
import type { EdgeMarks } from "./PartitionEdge";
import { isLarge } from "./scale";

/** Around so many selected operators edges have their labels also in a large query. */
const LABELLED_AROUND_MAX = 20;

/** Groups of hosts stand behind everything, and nothing can be done with them as nodes. */
export function hostNodes(groups: HostGroup[], before: Map<string, Node>): Node[] {
  return groups.map((group) => ({
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
}

/** Sizes and ports as the style sheet draws them, so that nothing has to be measured, and what is not in view not even drawn. */
export function operatorNodes(
  document: ExperimentDocument,
  kinds: Map<string, Kind>,
  before: Map<string, Node>,
  selected: string[],
): Node[] {
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
export function singleEdges(document: ExperimentDocument, selection: Selection): DocumentEdge[] {
  if (!isLarge(document)) return document.query.edges;
  const operators = new Set(selection.operators.slice(0, LABELLED_AROUND_MAX));
  const keys = new Set(selection.edges);
  return document.query.edges.filter((edge) => operators.has(edge.source) || operators.has(edge.target) || keys.has(edgeKey(edge)));
}

export function flowEdges(
  drawn: DocumentEdge[],
  document: ExperimentDocument,
  problems: Problem[],
  selection: Selection,
  before: Edge[],
): Edge[] {
  const marked = problemsByPart(problems, document).edges;
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const chosen = new Set(selection.edges);
  return drawn.map((edge) => {
    const key = edgeKey(edge);
    const own = marked.get(key) ?? [];
    const data: EdgeMarks = {
      tone: worstTone(own),
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

/** Operators back where the document has them. */
export function atTheirPlaces(nodes: Node[], document: ExperimentDocument): Node[] {
  const positions = positionsOf(document);
  return nodes.map((node) => (positions[node.id] ? { ...node, position: positions[node.id] as { x: number; y: number } } : node));
}
