/** Where hosts stand below the waterline: groups side by side, a tile for each host. */
import type { ExperimentDocument, Host, Position } from "../../api/document";
import { expandHosts, hostSpec, type ExpandedHost } from "../document/hosts";
import { regionsOf } from "../document/regions";

/** A tile is as wide as there is room for, within these bounds. */
export const TILE = { widthMin: 92, widthMax: 124, height: 64, gap: 4 } as const;
/** Squares for the instances on a tile, as the style sheet draws them: in rows, with room to the tile's border. */
export const SLOT = { size: 9, gap: 2, rows: 2, border: 6 } as const;
/** Squares whose place the number of further instances takes. */
const SLOTS_OF_NUMBER = 3;
const GROUP = { padding: 8, header: 28, footer: 26, gap: 8 } as const;
/** More hosts than this in one template are folded into a "+ n more" tile. */
export const HOSTS_SHOWN_MAX = 40;
/** From this width on a tile has room for the memory of its host, too. */
const SPEC_WIDTH = 112;
const GROUP_ORDER = ["edge", "fog", "cloud"];

export interface HostTile {
  name: string;
  template: number;
  x: number;
  y: number;
  width: number;
  /** Hosts that this tile stands for besides its own; 0 for a plain tile. */
  more: number;
}

export interface HostGroup {
  id: string;
  hosts: number;
  x: number;
  y: number;
  width: number;
  height: number;
  tiles: HostTile[];
}

/** Groups side by side below the waterline, hosts in a grid; the last group takes the width that is left. */
export function layoutHosts(document: ExperimentDocument, origin: Position, width: number): HostGroup[] {
  const expanded = expandHosts(document);
  const names = sortedRegions(document);
  const shown = names.map((id) => fold(expanded.filter((host) => host.group === id)));
  const total = Math.max(
    1,
    shown.reduce((sum, tiles) => sum + tiles.length, 0),
  );
  const free = width - names.length * (2 * GROUP.padding - TILE.gap) - (names.length - 1) * GROUP.gap;
  const tileWidth = Math.max(TILE.widthMin, Math.min(TILE.widthMax, Math.floor(free / total) - TILE.gap));
  const columnsFree = Math.max(names.length, Math.floor(free / (tileWidth + TILE.gap)));
  const groups: HostGroup[] = [];
  let x = origin.x;
  names.forEach((id, index) => {
    const tiles = shown[index] ?? [];
    const columns = Math.max(
      1,
      Math.min(tiles.length, names.length === 1 ? columnsFree : Math.round((columnsFree * tiles.length) / total)),
    );
    const rows = Math.max(1, Math.ceil(tiles.length / columns));
    const groupWidth = Math.max(132, columns * (tileWidth + TILE.gap) - TILE.gap + 2 * GROUP.padding);
    groups.push({
      id,
      x,
      y: origin.y,
      width: groupWidth,
      hosts: expanded.filter((host) => host.group === id).length,
      height: GROUP.header + rows * (TILE.height + TILE.gap) - TILE.gap + GROUP.footer,
      tiles: tiles.map((tile, at) => ({
        ...tile,
        width: tileWidth,
        x: GROUP.padding + (at % columns) * (tileWidth + TILE.gap),
        y: GROUP.header + Math.floor(at / columns) * (TILE.height + TILE.gap),
      })),
    });
    x += groupWidth + GROUP.gap;
  });
  const height = Math.max(0, ...groups.map((group) => group.height));
  return groups.map((group) => ({ ...group, height }));
}

/** Tiers from the edge to the cloud, then other regions by name. */
export const sortedRegions = (document: ExperimentDocument) =>
  regionsOf(document).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));

const rank = (group: string) => (GROUP_ORDER.includes(group) ? GROUP_ORDER.indexOf(group) : GROUP_ORDER.length);

function fold(hosts: ExpandedHost[]): HostTile[] {
  const tiles = hosts
    .slice(0, HOSTS_SHOWN_MAX)
    .map((host) => ({ name: host.name, template: host.template, x: 0, y: 0, width: TILE.widthMin, more: 0 }));
  const last = tiles.at(-1);
  if (last && hosts.length > HOSTS_SHOWN_MAX) last.more = hosts.length - HOSTS_SHOWN_MAX;
  return tiles;
}

/** How many squares stand in a row on a tile, and how many of the instances get one; further instances are a number behind them. */
export function slotsOn(width: number, instances: number): { perRow: number; shown: number } {
  const perRow = Math.floor((width - 2 * SLOT.border + SLOT.gap) / (SLOT.size + SLOT.gap));
  const most = perRow * SLOT.rows;
  return { perRow, shown: instances > most ? most - SLOTS_OF_NUMBER : instances };
}

/** What a tile says of its host: all where there is room. */
export const specOn = (width: number, host: Host | undefined) =>
  host ? hostSpec(host).slice(0, width >= SPEC_WIDTH ? undefined : 2).join(" ") : "";

/** The host tile under a point of the world, or null. */
export function hostAt(groups: HostGroup[], point: Position): HostTile | null {
  for (const group of groups) {
    for (const tile of group.tiles) {
      const left = group.x + tile.x;
      const top = group.y + tile.y;
      if (point.x >= left && point.x <= left + tile.width && point.y >= top && point.y <= top + TILE.height) return tile;
    }
  }
  return null;
}
