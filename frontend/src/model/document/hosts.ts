/** The hosts of a document: templates become hosts with names, and hosts, their links and lists of them are told in a line. */
import type { ExperimentDocument, Host } from "../../api/document";

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
