/** Where the hardware layer lies: the waterline under the lowest operator, the host groups below it, the links of regions below those. */
import type { ExperimentDocument } from "../../api/document";
import type { Kind } from "../../api/types";
import { layoutHosts, type HostGroup } from "./hostTiles";
import { queryBounds } from "./layout";
import { depthOf, layoutRegionLinks, type RegionWay } from "./regionLinks";

/** Room between the lowest operator and the waterline, and from there to the hosts. */
export const SHORE = 56;
export const DEPTH = 44;

export interface Hardware {
  waterline: number;
  left: number;
  right: number;
  top: number;
  groups: HostGroup[];
  regionLinks: RegionWay[];
}

export function hardwareOf(document: ExperimentDocument, kinds: Map<string, Kind>): Hardware {
  const bounds = queryBounds(document, kinds);
  const waterline = Math.round(bounds.bottom / 8) * 8 + SHORE;
  const width = Math.max(688, bounds.right - bounds.left);
  const groups = layoutHosts(document, { x: bounds.left, y: waterline + DEPTH }, width);
  return {
    waterline,
    left: bounds.left,
    right: bounds.right,
    top: bounds.top,
    groups,
    regionLinks: layoutRegionLinks(document, groups),
  };
}

/** All that is drawn, query and hosts. */
export function boxOf(hardware: Hardware): { x: number; y: number; width: number; height: number } {
  const { left, top, right, waterline, groups, regionLinks } = hardware;
  const end = Math.max(right, ...groups.map((group) => group.x + group.width));
  const bottom = Math.max(waterline + DEPTH, ...groups.map((group) => group.y + group.height));
  return { x: left, y: top, width: end - left, height: bottom + depthOf(regionLinks, bottom) - top };
}
