import type { HostGroup } from "../../../model/graph/hostTiles";
import { drawnPlacement, useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { branchOf, placementWay, trunkOf } from "./placementWay";

/** From the hovered or selected operator down through the waterline to every host that it stands on: a trunk and branches. */
export function PlacementLines({ groups, waterline }: { groups: HostGroup[]; waterline: number }) {
  const document = useEditor((state) => state.document);
  const id = useEditor((state) => state.hovered ?? (state.selection.operators.length === 1 ? state.selection.operators[0] : undefined));
  const placement = useEditor((state) => (id ? drawnPlacement(state)[id] : undefined));
  const { kinds } = useRegistry();
  if (!id || !placement?.length) return null;
  const way = placementWay(document, kinds, id, placement, groups, waterline);
  if (!way) return null;
  const { x, top, split, colour, ends } = way;
  const hosts = new Set(placement).size;
  const perHost = placement.length / hosts;
  return (
    <>
      <svg className="placement" style={{ stroke: colour }} aria-hidden="true">
        {ends.map((end) => (
          <path key={`${end.x},${end.y}`} d={branchOf(way, end)} strokeWidth={1.25} />
        ))}
        <path d={trunkOf(way)} strokeWidth={2.5} />
        <circle cx={x} cy={top} r={3.5} style={{ fill: colour }} />
        {ends.map((end) => (
          <circle key={`${end.x},${end.y}`} cx={end.x} cy={end.y} r={2.5} style={{ fill: colour }} />
        ))}
      </svg>
      <span
        className="elab plain"
        style={{ left: x, top: Math.max(top + 14, split - 14), color: colour, boxShadow: `0 0 0 1px ${colour}` }}
      >
        {hosts === 1
          ? `${placement.length} on ${placement[0]}`
          : Number.isInteger(perHost)
            ? `${perHost} per host`
            : `${placement.length} on ${hosts} hosts`}
      </span>
    </>
  );
}
