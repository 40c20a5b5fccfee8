/** From a JSON pointer to the thing on the canvas that it is about. */
import type { ExperimentDocument } from "../../api/document";
import type { Problem } from "../../api/types";
import { edgeKey } from "./document";

export type Target =
  | { part: "operator"; id: string; tab: "selection" | "workload" }
  | { part: "edge"; key: string; source: string; target: string }
  | { part: "host"; index: number }
  | { part: "region-link"; index: number }
  | { part: "fault"; index: number }
  | { part: "faults" }
  | { part: "panel"; tab: "workload" | "policies" | "measurement" }
  | { part: "document" };

export const unescapePointer = (part: string) => part.replace(/~1/g, "/").replace(/~0/g, "~");
export const escapePointer = (part: string | number) => String(part).replace(/~/g, "~0").replace(/\//g, "~1");
export const pointerParts = (pointer: string) => pointer.split("/").slice(1).map(unescapePointer);
export const joinPointer = (base: string, path: readonly (string | number)[]) =>
  base + path.map((part) => `/${escapePointer(part)}`).join("");

export function targetOf(pointer: string, document: ExperimentDocument): Target {
  const [root, second, third] = pointerParts(pointer);
  if (root === "query" && second === "operators" && third !== undefined) {
    const operator = document.query.operators[Number(third)];
    if (operator) return { part: "operator", id: operator.id, tab: "selection" };
  }
  if (root === "query" && second === "edges" && third !== undefined) {
    const edge = document.query.edges[Number(third)];
    if (edge) return { part: "edge", key: edgeKey(edge), source: edge.source, target: edge.target };
  }
  if (root === "cluster" && second === "hosts" && document.cluster.hosts[Number(third)]) return { part: "host", index: Number(third) };
  if (root === "cluster" && second === "region_links" && document.cluster.region_links?.[Number(third)]) {
    return { part: "region-link", index: Number(third) };
  }
  if (root === "placement" && second === "hosts" && third !== undefined && document.query.operators.some((one) => one.id === third)) {
    return { part: "operator", id: third, tab: "selection" };
  }
  if (root === "workload") {
    if (second === "sources" && third !== undefined && document.query.operators.some((one) => one.id === third)) {
      return { part: "operator", id: third, tab: "selection" };
    }
    return { part: "panel", tab: "workload" };
  }
  if (root === "faults") return document.faults?.[Number(second)] ? { part: "fault", index: Number(second) } : { part: "faults" };
  if (root === "policies" || root === "placement" || root === "prices" || root === "cluster") return { part: "panel", tab: "policies" };
  if (root === "measurement" || root === "assertions" || root === "backend") return { part: "panel", tab: "measurement" };
  return { part: "document" };
}

export const isError = (problem: Problem) => problem.severity !== "warning";

/** How a problem looks: wrong, doubtful, or nothing but something that is still to be done. */
export type Tone = "err" | "warn" | "todo";
export const toneOf = (problem: Problem): Tone => (isError(problem) ? (problem.missing ? "todo" : "err") : "warn");

/** How something with these problems looks. */
export function worstTone(problems: Problem[]): Tone | "" {
  const tones = new Set(problems.map(toneOf));
  return (["err", "warn", "todo"] as const).find((tone) => tones.has(tone)) ?? "";
}

export const TONE_ICON = { err: "crossc", warn: "warn", todo: "info" } as const;

/** Problems by operator id, edge key, and index of host and region link: what the canvas marks. */
export function problemsByPart(problems: Problem[], document: ExperimentDocument) {
  const operators = new Map<string, Problem[]>();
  const edges = new Map<string, Problem[]>();
  const hosts = new Map<number, Problem[]>();
  const regionLinks = new Map<number, Problem[]>();
  const add = <K>(map: Map<K, Problem[]>, key: K, problem: Problem) => map.set(key, [...(map.get(key) ?? []), problem]);
  for (const problem of problems) {
    const target = targetOf(problem.pointer, document);
    if (target.part === "operator") add(operators, target.id, problem);
    if (target.part === "edge") add(edges, target.key, problem);
    if (target.part === "host") add(hosts, target.index, problem);
    if (target.part === "region-link") add(regionLinks, target.index, problem);
  }
  return { operators, edges, hosts, regionLinks };
}

/** Problems at this pointer or below it. */
export function problemsAt(problems: Problem[], pointer: string): Problem[] {
  return problems.filter((problem) => problem.pointer === pointer || problem.pointer.startsWith(`${pointer}/`));
}
