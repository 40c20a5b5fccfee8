/** The hardware layer: templates become hosts, hosts stand in groups, groups have a place below the waterline. */
import type { ExperimentDocument, Host, Position } from "./document";

export interface ExpandedHost {
  name: string;
  /** Index of its template in the document. */
  template: number;
  group: string;
}

/** `count` given: name1 .. nameN; not given: the name itself. */
export function hostNames(host: Host): string[] {
  if (host.count === undefined || host.count === null) return [host.name];
  const count = Number.isFinite(host.count) ? Math.max(0, Math.min(host.count, 10_000)) : 0;
  return Array.from({ length: count }, (_, index) => `${host.name}${index + 1}`);
}

export function expandHosts(document: ExperimentDocument): ExpandedHost[] {
  return document.cluster.hosts.flatMap((host, template) =>
    hostNames(host).map((name) => ({ name, template, group: host.group || "cloud" })),
  );
}

/** Instances on each host as operator ids, in operator order, one entry per instance. */
export function instancesByHost(document: ExperimentDocument, placement: { [operator: string]: string[] }): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const operator of document.query.operators) {
    for (const name of placement[operator.id] ?? []) hosts.set(name, [...(hosts.get(name) ?? []), operator.id]);
  }
  return hosts;
}

/** A tile is as wide as there is room for, within these bounds. */
export const TILE = { widthMin: 68, widthMax: 112, height: 46, gap: 4 } as const;
const GROUP = { padding: 8, header: 28, footer: 26, gap: 8 } as const;
/** More hosts than this in one template are folded into a "+ n more" tile. */
export const HOSTS_SHOWN_MAX = 40;
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
  const names = [...new Set(expanded.map((host) => host.group))];
  names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
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

const rank = (group: string) => (GROUP_ORDER.includes(group) ? GROUP_ORDER.indexOf(group) : GROUP_ORDER.length);

function fold(hosts: ExpandedHost[]): HostTile[] {
  const tiles = hosts
    .slice(0, HOSTS_SHOWN_MAX)
    .map((host) => ({ name: host.name, template: host.template, x: 0, y: 0, width: TILE.widthMin, more: 0 }));
  const last = tiles.at(-1);
  if (last && hosts.length > HOSTS_SHOWN_MAX) last.more = hosts.length - HOSTS_SHOWN_MAX;
  return tiles;
}

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

/** One line about a template: "10 × w, 1 core, 4 GB, egress 1 Gbit/s". */
export function describeHost(host: Host): string {
  const names = hostNames(host);
  const parts = [names.length > 1 ? `${names[0]}–${names.at(-1)}: ${names.length} × ${host.name}` : host.name];
  if (host.cores) parts.push(`${host.cores} ${host.cores === 1 ? "core" : "cores"}`);
  if (host.memory_mb) parts.push(host.memory_mb >= 1000 ? `${round(host.memory_mb / 1000)} GB` : `${host.memory_mb} MB`);
  if (host.egress_mbit_per_s) {
    parts.push(
      `egress ${host.egress_mbit_per_s >= 1000 ? `${round(host.egress_mbit_per_s / 1000)} Gbit/s` : `${host.egress_mbit_per_s} Mbit/s`}`,
    );
  }
  if (host.egress_latency_ms !== undefined) parts.push(`${host.egress_latency_ms} ms`);
  return parts.join(", ");
}

/** The links that leave a group's hosts, a line for each: "to w1 12 ms", with the sender where not all of its group have it. */
export function describeLinks(document: ExperimentDocument, group: string): string[] {
  const own = new Set(expandHosts(document).flatMap((host) => (host.group === group ? [host.name] : [])));
  const senders = new Map<string, string[]>();
  for (const link of document.cluster.links ?? []) {
    const { source, target, latency_ms, mbit_per_s } = (link ?? {}) as Record<string, unknown>;
    if (typeof source !== "string" || typeof target !== "string" || !own.has(source)) continue;
    const what = [
      `to ${target}`,
      ...(typeof latency_ms === "number" ? [`${latency_ms} ms`] : []),
      ...(typeof mbit_per_s === "number" ? [`${mbit_per_s} Mbit/s`] : []),
    ].join(" ");
    senders.set(what, [...(senders.get(what) ?? []), source]);
  }
  return [...senders].map(([what, names]) => (names.length === own.size ? what : `${summariseHosts(names)} ${what}`));
}

const round = (value: number) => Math.round(value * 10) / 10;

/** Host names as people read them: w1–w4, or w1, w3, edge. Runs of numbers are joined. */
export function summariseHosts(names: string[]): string {
  const unique = [...new Set(names)];
  const parts: string[] = [];
  for (let at = 0; at < unique.length; ) {
    const start = unique[at] as string;
    const match = /^(.*?)(\d+)$/.exec(start);
    let end = at;
    while (match && unique[end + 1] === `${match[1]}${Number(match[2]) + end + 1 - at}`) end += 1;
    parts.push(end - at >= 2 ? `${start}–${unique[end]}` : unique.slice(at, end + 1).join(", "));
    at = end + 1;
  }
  return parts.join(", ");
}
