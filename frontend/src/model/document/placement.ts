/**
 * Where instances stand, as far as it can be told without the server: it makes dropping an operator on a host show at once.
 * The server's answer (validation) replaces it.
 */
import type { ExperimentDocument } from "../../api/document";
import { instancesOf } from "./document";
import { expandHosts } from "./hosts";

/** Host names by operator, one per instance. `known` serves for strategies that only the server computes. */
export function localPlacement(document: ExperimentDocument, known: Record<string, string[]> = {}): Record<string, string[]> {
  const names = expandHosts(document).map((host) => host.name);
  const placement: Record<string, string[]> = {};
  for (const operator of document.query.operators) {
    const list =
      document.placement.kind === "explicit"
        ? (document.placement.hosts?.[operator.id] ?? [])
        : document.placement.kind === "spread"
          ? names
          : (known[operator.id] ?? []).filter((name) => names.includes(name));
    if (!list.length) continue;
    const count = Math.max(0, Math.min(Math.floor(Number(instancesOf(operator)) || 0), 10_000));
    placement[operator.id] = Array.from({ length: count }, (_, index) => list[index % list.length] as string);
  }
  return placement;
}
