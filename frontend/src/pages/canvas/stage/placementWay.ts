/** The line from an operator down through the waterline to the hosts that it stands on, and which operators a preview moves. */
import type { ExperimentDocument } from "../../../api/document";
import type { Kind } from "../../../api/types";
import { operatorOf } from "../../../model/document/document";
import { colourOf } from "../../../model/graph/colours";
import type { HostGroup } from "../../../model/graph/hostTiles";
import { nodeHeight, NODE, positionsOf } from "../../../model/graph/layout";
import type { Preview } from "../editor";

export interface PlacementWay {
  colour: string;
  /** Of the trunk, from the operator's lower edge to where branches leave it. */
  x: number;
  top: number;
  split: number;
  /** Upper edges of the hosts' tiles. */
  ends: { x: number; y: number }[];
}

/** Null where there is nothing to draw: no such operator, or no tile for its hosts. */
export function placementWay(
  document: ExperimentDocument,
  kinds: Map<string, Kind>,
  id: string,
  hosts: string[],
  groups: HostGroup[],
  waterline: number,
): PlacementWay | null {
  const operator = operatorOf(document, id);
  const at = positionsOf(document)[id];
  const names = new Set(hosts);
  if (!operator || !at) return null;
  const ends = groups.flatMap((group) =>
    group.tiles.filter((tile) => names.has(tile.name)).map((tile) => ({ x: group.x + tile.x + tile.width / 2, y: group.y + tile.y })),
  );
  if (!ends.length) return null;
  return {
    colour: colourOf(document.query.operators.indexOf(operator)),
    x: at.x + NODE.width / 2,
    top: at.y + nodeHeight(kinds.get(operator.kind)),
    split: waterline - 16,
    ends,
  };
}

export const branchOf = ({ x, split }: PlacementWay, end: { x: number; y: number }) =>
  `M${x} ${split}C${x} ${split + 40} ${end.x} ${end.y - 36} ${end.x} ${end.y}`;
export const trunkOf = ({ x, top, split }: PlacementWay) => `M${x} ${top}V${split + 1}`;

/** Whether the preview has an operator on other hosts than it stands on now. */
export function isMovedBy(preview: Preview, placement: Record<string, string[]>, id: string): boolean {
  const [now, then] = [placement, preview.hosts].map((of) => [...new Set(of[id] ?? [])].sort().join("\n"));
  return now !== then;
}
