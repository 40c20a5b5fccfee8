import { operatorOf } from "../../../model/document/document";
import { colourOf } from "../../../model/graph/colours";
import type { HostGroup } from "../../../model/graph/hostTiles";
import { nodeHeight, NODE, positionsOf } from "../../../model/graph/layout";
import { useEditor } from "../editor";
import { useRegistry } from "../useRegistry";

/** From the hovered or selected operator down through the waterline to every host that it stands on: a trunk and branches. */
export function PlacementLines({ groups, waterline }: { groups: HostGroup[]; waterline: number }) {
  const document = useEditor((state) => state.document);
  const id = useEditor((state) => state.hovered ?? (state.selection.operators.length === 1 ? state.selection.operators[0] : undefined));
  const placement = useEditor((state) => (id ? state.placement[id] : undefined));
  const { kinds } = useRegistry();
  const operator = id ? operatorOf(document, id) : undefined;
  const at = id ? positionsOf(document)[id] : undefined;
  if (!id || !operator || !at || !placement?.length) return null;
  const names = new Set(placement);
  const ends = groups.flatMap((group) =>
    group.tiles.filter((tile) => names.has(tile.name)).map((tile) => ({ x: group.x + tile.x + tile.width / 2, y: group.y + tile.y })),
  );
  if (!ends.length) return null;
  const x = at.x + NODE.width / 2;
  const top = at.y + nodeHeight(kinds.get(operator.kind));
  const split = waterline - 16;
  const colour = colourOf(document.query.operators.indexOf(operator));
  const perHost = placement.length / names.size;
  return (
    <>
      <svg className="placement" style={{ stroke: colour }} aria-hidden="true">
        {ends.map((end) => (
          <path
            key={`${end.x},${end.y}`}
            d={`M${x} ${split}C${x} ${split + 40} ${end.x} ${end.y - 36} ${end.x} ${end.y}`}
            strokeWidth={1.25}
          />
        ))}
        <path d={`M${x} ${top}V${split + 1}`} strokeWidth={2.5} />
        <circle cx={x} cy={top} r={3.5} style={{ fill: colour }} />
        {ends.map((end) => (
          <circle key={`${end.x},${end.y}`} cx={end.x} cy={end.y} r={2.5} style={{ fill: colour }} />
        ))}
      </svg>
      <span
        className="elab plain"
        style={{ left: x, top: Math.max(top + 14, split - 14), color: colour, boxShadow: `0 0 0 1px ${colour}` }}
      >
        {names.size === 1
          ? `${placement.length} on ${placement[0]}`
          : Number.isInteger(perHost)
            ? `${perHost} per host`
            : `${placement.length} on ${names.size} hosts`}
      </span>
    </>
  );
}
