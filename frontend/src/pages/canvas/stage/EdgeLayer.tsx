import { useReactFlow, useStore, type ReactFlowState } from "@xyflow/react";
import { memo, useEffect, useMemo, type RefObject } from "react";
import type { Position } from "../../../api/document";
import { edgeKey, operatorOf } from "../../../model/document/document";
import { waysOf, type Way } from "../../../model/graph/edgeWay";
import { nearestOutline, outlineOf, type Outline } from "../../../model/graph/pathHit";
import { useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

const sameNodes = (a: ReactFlowState["nodes"], b: ReactFlowState["nodes"]) =>
  a.length === b.length && a.every((node, at) => node.position === b[at]?.position);

const joined = (ways: { way: Way }[]) => ways.map(({ way }) => way.path).join("");

/** How near to an edge the pointer means it, in px of the screen. */
const REACH = 7;

/** The edge at a point of the stage, among those that are drawn together. */
export type EdgeAt = (point: Position) => string | null;

/**
 * The edges of a large query as two drawings: thousands cost no more than one while the view moves. Those that are selected, or lead to
 * a selected operator, are drawn one by one beside it, with labels; from afar (`without` is empty there) they are at least coloured.
 * at: is given the function that tells which edge is at a point.
 */
export const EdgeLayer = memo(function EdgeLayer({
  without,
  pointed,
  at,
}: {
  without: ReadonlySet<string>;
  /** The edge that the pointer is on. */
  pointed: string | null;
  at: RefObject<EdgeAt>;
}) {
  const document = useEditor((state) => state.document);
  const chosen = useEditor((state) => state.selection.edges);
  const { kinds } = useRegistry();
  const flow = useReactFlow();
  const nodes = useStore((state: ReactFlowState) => state.nodes, sameNodes);
  const ways = useMemo(() => {
    const positions = Object.fromEntries(nodes.filter((node) => operatorOf(document, node.id)).map((node) => [node.id, node.position]));
    return waysOf(document, kinds, positions).map((one) => ({ ...one, key: edgeKey(one.edge) }));
  }, [document, kinds, nodes]);
  const together = useMemo(() => ways.filter(({ key }) => !without.has(key)), [ways, without]);
  useEffect(() => {
    let outlines: Outline[] | null = null; // worked out when the pointer first asks
    at.current = (point) => {
      outlines ??= together.map(({ way }) => outlineOf(way.path));
      return together[nearestOutline(outlines, point, REACH / flow.getZoom())]?.key ?? null;
    };
    return () => {
      at.current = () => null;
    };
  }, [together, at, flow]);
  const [forward, back] = useMemo(
    () => [joined(together.filter(({ lane }) => lane < 0)), joined(together.filter(({ lane }) => lane >= 0))],
    [together],
  );
  return (
    <svg className="edge-layer" aria-hidden="true">
      <path d={forward} />
      <path className="feedback" d={back} />
      <path className="pointed" d={joined(together.filter(({ key }) => key === pointed))} />
      <path className="selected" d={joined(together.filter(({ key }) => chosen.includes(key)))} />
    </svg>
  );
});
