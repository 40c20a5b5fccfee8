/** The hosts of a document: templates become hosts with names, and hosts, their links and lists of them are told in a line. */
import type { ExperimentDocument, Host } from "../../api/document";
import { bandwidth, limitsOf, regionOf } from "./regions";

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
    hostNames(host).map((name) => ({ name, template, group: regionOf(host) })),
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

/** A name for more hosts, which with their numbers behind it cannot be taken for others: "w", "w-b", "w-c", ... */
export function freeHostName(base: string, hosts: Host[]): string {
  const taken = new Set(hosts.flatMap((host) => [host.name, ...hostNames(host)]));
  const name = (number: number) => (number === 0 ? base : `${base}-${letters(number)}`);
  for (let number = 0; ; number += 1) if (!taken.has(name(number))) return name(number);
}

/** 1: "b", 25: "z", 26: "aa". */
const letters = (number: number): string =>
  (number >= 26 ? letters(Math.floor(number / 26) - 1) : "") + String.fromCharCode("a".charCodeAt(0) + (number % 26));

/** What a host has, in a few words each: "2 cores", "0.5x", "4.1 GB". */
export function hostSpec({ cores = 1, speed = 1, memory_mb }: Host): string[] {
  return [
    `${cores} ${cores === 1 ? "core" : "cores"}`,
    `${speed}x`,
    ...(typeof memory_mb === "number" ? [memory_mb >= 1000 ? `${round(memory_mb / 1000)} GB` : `${memory_mb} MB`] : []),
  ];
}

/** One line about a template: "w1–w10: 10 × 2 cores, 0.5x, 4.1 GB, egress 1 Gbit/s". */
export function describeHost(host: Host): string {
  const names = hostNames(host);
  const parts = [`${names.length > 1 ? `${names[0]}–${names.at(-1)}: ${names.length} × ` : `${names[0] ?? host.name}: `}${hostSpec(host).join(", ")}`];
  if (typeof host.egress_mbit_per_s === "number") parts.push(`egress ${bandwidth(host.egress_mbit_per_s)}`);
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
    const what = `to ${target} ${limitsOf({ latency_ms, mbit_per_s })}`;
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
