import { useStore, type ReactFlowState } from "@xyflow/react";
import { memo } from "react";
import type { Kind } from "../api/types";
import { DEFAULT_PORT, edgeKey, operatorOf, type Edge, type ExperimentDocument, type Position } from "../model/document";
import { feedbackLane, portAt } from "../model/layout";
import { lookupOf } from "../model/lookup";
import { wayOf, type Way } from "./edgeWay";
import { useEditor } from "./editor";
import { useRegistry } from "./useRegistry";

/** The way of every edge, over operators that stand at `positions`. */
export function waysOf(
  document: ExperimentDocument,
  kinds: Map<string, Kind>,
  positions: { [operator: string]: Position },
): { edge: Edge; way: Way; lane: number }[] {
  const { operators } = lookupOf(document);
  const boxes = () => Object.values(positions);
  const portOf = (id: string, side: "in" | "out", name: string) => {
    const at = positions[id];
    const kind = kinds.get(operators.get(id)?.kind ?? "");
    return at && portAt(at, side, (side === "in" ? kind?.inputs : kind?.outputs)?.indexOf(name) ?? 0);
  };
  return document.query.edges.flatMap((edge) => {
    const from = portOf(edge.source, "out", edge.source_port ?? DEFAULT_PORT.source);
    const to = portOf(edge.target, "in", edge.target_port ?? DEFAULT_PORT.target);
    const lane = edge.feedback ? feedbackLane(document, edgeKey(edge)) : -1;
    return from && to ? [{ edge, way: wayOf(from, to, lane, boxes), lane }] : [];
  });
}

const sameNodes = (a: ReactFlowState["nodes"], b: ReactFlowState["nodes"]) =>
  a.length === b.length && a.every((node, at) => node.position === b[at]?.position);

/**
 * The edges of a large query as two drawings: thousands cost no more than one while the view moves. Those that are selected, or lead to
 * a selected operator, are drawn one by one beside it, with labels.
 */
export const EdgeLayer = memo(function EdgeLayer({ without }: { without: ReadonlySet<string> }) {
  const document = useEditor((state) => state.document);
  const { kinds } = useRegistry();
  const nodes = useStore((state: ReactFlowState) => state.nodes, sameNodes);
  const positions = Object.fromEntries(nodes.filter((node) => operatorOf(document, node.id)).map((node) => [node.id, node.position]));
  const ways = waysOf(document, kinds, positions).filter(({ edge }) => !without.has(edgeKey(edge)));
  const joined = (feedback: boolean) =>
    ways
      .filter(({ lane }) => lane >= 0 === feedback)
      .map(({ way }) => way.path)
      .join("");
  return (
    <svg className="edge-layer" aria-hidden="true">
      <path d={joined(false)} />
      <path className="feedback" d={joined(true)} />
    </svg>
  );
});
