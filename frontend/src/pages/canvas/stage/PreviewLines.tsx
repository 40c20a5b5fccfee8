import { useMemo } from "react";
import type { HostGroup } from "../../../model/graph/hostTiles";
import { Icon } from "../../../ui/Icon";
import { useEditor } from "../editor";
import { useRegistry } from "../useRegistry";
import { branchOf, isMovedBy, placementWay, trunkOf } from "./placementWay";

/** A previewed placement: a line from each operator to its host, heavier where the operator would move. */
export function PreviewLines({ groups, waterline }: { groups: HostGroup[]; waterline: number }) {
  const document = useEditor((state) => state.document);
  const preview = useEditor((state) => state.preview);
  const placement = useEditor((state) => state.placement);
  const { kinds } = useRegistry();
  const ways = useMemo(
    () =>
      preview &&
      document.query.operators.flatMap(({ id }) => {
        const way = placementWay(document, kinds, id, preview.hosts[id] ?? [], groups, waterline);
        return way ? [{ id, way, isMoved: isMovedBy(preview, placement, id) }] : [];
      }),
    [document, preview, placement, kinds, groups, waterline],
  );
  if (!ways) return null;
  return (
    <svg className="placement previewed" aria-hidden="true" data-testid="preview-lines">
      {ways.map(({ id, way, isMoved }) => (
        <g key={id} className={isMoved ? "moved" : ""} style={{ stroke: way.colour, fill: way.colour }}>
          <path d={trunkOf(way)} />
          {way.ends.map((end) => (
            <path key={`${end.x},${end.y}`} d={branchOf(way, end)} />
          ))}
          {way.ends.map((end) => (
            <circle key={`${end.x},${end.y}`} cx={end.x} cy={end.y} r={2.5} />
          ))}
        </g>
      ))}
    </svg>
  );
}

/** Says that what is drawn is not in the document. */
export function PreviewHint() {
  const label = useEditor((state) => state.preview?.label);
  if (label === undefined) return null;
  return (
    <p className="connecting" data-testid="placement-preview">
      <Icon name="info" />
      {label}
    </p>
  );
}
