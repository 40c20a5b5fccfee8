/** A query as elk takes it, and the positions that it answers with. */
import type { ElkNode } from "elkjs/lib/elk-api";
import type { ExperimentDocument, Position } from "../../api/document";
import type { Kind } from "../../api/types";
import { DEFAULT_PORT } from "../document/document";
import { partitioningLabel, portsOf } from "./graph";
import { depths, forwardEdges, NODE, nodeHeight, PITCH } from "./layout";

/** What the label of an edge needs between two operators: letters and padding, in px. */
const LABEL = { letter: 5.6, padding: 14, height: 18 } as const;
/** With so many columns a query would be too small to read; it then goes on in rows below, of about this width to height in all. */
const WRAPPED_FROM = 6;
const ASPECT = 2.2;
/** With labels: operators in line with what feeds them, in the document's order, with room for the words. */
const WITH_LABELS = {
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
};
/** Without: thousands of edges in seconds. */
const WITHOUT_LABELS = { "elk.layered.nodePlacement.strategy": "LINEAR_SEGMENTS", "elk.edgeRouting": "POLYLINE" };

/** Layers from left to right, in rows like a text, ports in order; labelled: with room for the edges' labels. */
export function layoutGraph(document: ExperimentDocument, kinds: Map<string, Kind>, labelled: boolean): ElkNode {
  const port = (operator: string, name: string) => `${operator}/${name}`;
  const columns = 1 + Math.max(0, ...depths(document).values());
  const children = document.query.operators.map((operator) => {
    const ports = portsOf(document, kinds.get(operator.kind), operator.id);
    const onSide = (side: "WEST" | "EAST", names: string[]) =>
      names.map((name, index) => ({
        id: port(operator.id, `${side}-${name}`),
        x: side === "WEST" ? 0 : NODE.width,
        y: NODE.header + NODE.port * (index + 0.5),
        layoutOptions: { "elk.port.side": side },
      }));
    return {
      id: operator.id,
      width: NODE.width,
      height: nodeHeight(ports),
      layoutOptions: { "elk.portConstraints": "FIXED_POS" },
      ports: [...onSide("WEST", ports.inputs), ...onSide("EAST", ports.outputs)],
    };
  });
  const known = new Set(children.flatMap(({ ports }) => ports.map(({ id }) => id)));
  return {
    id: "query",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "RIGHT",
      "elk.layered.spacing.nodeNodeBetweenLayers": "12",
      "elk.layered.wrapping.strategy": columns < WRAPPED_FROM ? "OFF" : "MULTI_EDGE",
      "elk.layered.wrapping.additionalEdgeSpacing": "30",
      "elk.aspectRatio": String(ASPECT),
      "elk.spacing.nodeNode": "40",
      ...(labelled ? WITH_LABELS : WITHOUT_LABELS),
    },
    children,
    edges: forwardEdges(document)
      .map((edge, index) => ({
        id: `edge-${index}`,
        sources: [port(edge.source, `EAST-${edge.source_port ?? DEFAULT_PORT.source}`)],
        targets: [port(edge.target, `WEST-${edge.target_port ?? DEFAULT_PORT.target}`)],
        ...(labelled ? { labels: [labelOf(index, partitioningLabel(edge.partitioning))] } : {}),
      }))
      // Elk takes no edge that leads nowhere; a document that is being mended may have one.
      .filter(({ sources, targets }) => [...sources, ...targets].every((end) => known.has(end))),
  };
}

const labelOf = (index: number, text: string) => ({
  id: `label-${index}`,
  text,
  width: text.length * LABEL.letter + LABEL.padding,
  height: LABEL.height,
  layoutOptions: { "elk.edgeLabels.inline": "true" },
});

/** Positions on the grid, from 0. Without labels columns need no more room than two operators side by side, however steep their edges. */
export function positionsFrom(graph: ElkNode, labelled: boolean): { [operator: string]: Position } {
  const nodes = (graph.children ?? []).map(({ id, x = 0, y = 0 }) => ({ id, x, y }));
  const left = Math.min(...nodes.map((node) => node.x));
  const top = Math.min(...nodes.map((node) => node.y));
  const columns = [...new Set(nodes.map((node) => node.x))].sort((a, b) => a - b);
  const columnOf = new Map(columns.map((x, column) => [x, column * PITCH.x]));
  const snap = (value: number) => Math.round(value / 8) * 8;
  return Object.fromEntries(
    nodes.map(({ id, x, y }) => [id, { x: labelled ? snap(x - left) : (columnOf.get(x) ?? 0), y: snap(y - top) }]),
  );
}
