/** Regions of hosts, and the links between them. A host's region is its `group`. */
import type { ExperimentDocument, Host, RegionLink } from "../../api/document";
import { changeAt, type Write } from "./writes";

export const regionOf = (host: Host) => host.group || "cloud";

/** In the order of their first hosts. */
export const regionsOf = (document: ExperimentDocument) => [...new Set(document.cluster.hosts.map(regionOf))];

export const regionLinksOf = (document: ExperimentDocument): RegionLink[] => document.cluster.region_links ?? [];

export const isWithin = (link: RegionLink) => link.source === link.target;
export const goesBack = (link: RegionLink) => (link.both_ways ?? true) && !isWithin(link);

/** "eu ↔ us", "eu → us" or "within eu". */
export function endsOf(link: RegionLink): string {
  if (isWithin(link)) return `within ${link.source ?? "?"}`;
  return `${link.source ?? "?"} ${goesBack(link) ? "↔" : "→"} ${link.target ?? "?"}`;
}

/** "40 ms, 1 Gbit/s", of what is given. */
export function limitsOf({ latency_ms, mbit_per_s }: { latency_ms?: unknown; mbit_per_s?: unknown }): string {
  return [
    ...(typeof latency_ms === "number" ? [`${latency_ms} ms`] : []),
    ...(typeof mbit_per_s === "number" ? [bandwidth(mbit_per_s)] : []),
  ].join(", ");
}

export const bandwidth = (mbit_per_s: number) =>
  mbit_per_s >= 1000 ? `${Math.round(mbit_per_s / 100) / 10} Gbit/s` : `${mbit_per_s} Mbit/s`;

/** The first two regions without a link from one to the other; regions side by side come first. Null: all have one. */
export function unlinkedRegions(document: ExperimentDocument, regions: string[]): [source: string, target: string] | null {
  const linked = new Set(regionLinksOf(document).flatMap(({ source, target }) => [`${source}\n${target}`, `${target}\n${source}`]));
  for (let apart = 1; apart < regions.length; apart += 1) {
    for (let at = 0; at + apart < regions.length; at += 1) {
      const [source = "", target = ""] = [regions[at], regions[at + apart]];
      if (!linked.has(`${source}\n${target}`)) return [source, target];
    }
  }
  return null;
}

const withLinks = (document: ExperimentDocument, links: RegionLink[]): ExperimentDocument => {
  const { region_links: _before, ...cluster } = document.cluster;
  return { ...document, cluster: links.length ? { ...cluster, region_links: links } : cluster };
};

export const addRegionLink = (document: ExperimentDocument, link: RegionLink) => withLinks(document, [...regionLinksOf(document), link]);

export const removeRegionLink = (document: ExperimentDocument, index: number) =>
  withLinks(document, regionLinksOf(document).filter((_, at) => at !== index));

/** Changes an entry of the hosts. When all hosts of a region move to a new one, the region has a new name: its links follow. */
export function changeHost<Value>(document: ExperimentDocument, index: number, write: Write<Value>): ExperimentDocument {
  const next = changeAt(document, ["cluster", "hosts", index], (before) => write(before as Value | undefined));
  const [before, after] = [regionsOf(document), regionsOf(next)];
  const [was, ...more] = before.filter((region) => !after.includes(region));
  const is = after.find((region) => !before.includes(region));
  if (was === undefined || is === undefined || more.length) return next;
  const renamed = <Name>(name: Name) => (name === was ? is : name);
  return withLinks(next, regionLinksOf(next).map((link) => ({ ...link, source: renamed(link.source), target: renamed(link.target) })));
}
