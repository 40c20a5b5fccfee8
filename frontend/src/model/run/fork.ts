/** Forks: what is different from a moment on, as the API takes it. */
import type { ExperimentDocument } from "../../api/document";
import type { Json, Kind, Registry, Tagged } from "../../api/types";
import { relocates } from "./scaling";
import { hasOutputLogs } from "./outputLogs";
import { hasStandbys } from "./standbys";
import { hasStores } from "./stores";

/** What goes wrong in a fork; `none`: only the load changes. */
export const TROUBLES = {
  none: "None",
  pause: "A host pauses for 5 s",
  slow_host: "A host at half speed for 10 s",
  host_loss: "A host is lost permanently",
} as const;
export type Trouble = keyof typeof TROUBLES;

export interface ForkWish {
  at_s: number;
  /** As typed: times the load. */
  load: string;
  trouble: Trouble;
  host: string;
  /** Kind of another scheduling policy; empty: as in the run. */
  scheduling?: string;
  /** An operator that moves, and its new host; empty: none moves. */
  mover?: string;
  moveTo?: string;
  /** The law that vectors follow from then on; empty: as in the run. */
  law?: string;
  /** Settings of local stores from then on, as typed, by name; empty: as in the run. */
  settings?: { [name in StoreSetting]?: string };
}

/** Settings of local stores that a fork may change, with their units. */
export const STORE_SETTINGS = {
  dirty_ratio: { label: "Dirty ratio", unit: "share", compacted: true },
  segment_ms: { label: "Segment", unit: "ms", compacted: false },
  backoff_s: { label: "Back-off", unit: "s", compacted: true },
  commit_s: { label: "Commit", unit: "s", compacted: false },
} as const;
export type StoreSetting = keyof typeof STORE_SETTINGS;

/** The settings that a run with local stores has to change; none without stores. */
export function storeSettings({ policies }: Pick<ExperimentDocument, "policies">): StoreSetting[] {
  if (!hasStores({ policies })) return [];
  const changelog = (policies?.state as { changelog?: { compacted?: boolean } } | undefined)?.changelog;
  return (Object.keys(STORE_SETTINGS) as StoreSetting[]).filter((name) => changelog?.compacted || !STORE_SETTINGS[name].compacted);
}

/** What was typed for a setting: null if nothing, NaN if it is no number. */
export const settingIn = (text: string | undefined) => (text?.trim() ? Number(text.trim().replace(",", ".")) : null);

/** Laws of vectors that need nothing but their name. */
export const LAWS = ["uniform", "gaussian", "pareto", "skewed", "clustered"] as const;

/** The sources of a run that make vectors, which can follow another law in a fork. */
export const vectorSources = ({ workload }: Pick<ExperimentDocument, "workload">): [id: string, stream: Tagged][] =>
  Object.entries(workload.sources).flatMap(([id, { stream }]) => {
    let last = stream as Tagged | undefined;
    while (last?.kind === "switched") last = last.after as Tagged | undefined;
    return last?.kind === "vectors" ? [[id, last] as [string, Tagged]] : [];
  });

const FAULTS: { [trouble in Exclude<Trouble, "none">]: { [field: string]: Json } } = {
  pause: { kind: "pause", for_ms: 5000 },
  slow_host: { kind: "slow_host", for_ms: 10_000, factor: 0.5 },
  host_loss: { kind: "host_loss" },
};

/** The factor that was typed; null if it is none. */
export function loadIn(text: string): number | null {
  const load = Number(text.trim().replace(",", "."));
  return text.trim() && Number.isFinite(load) && load > 0 && load <= 1e6 ? load : null;
}

/** The body of the request, without what stays as it was. */
export function forkBody(wish: ForkWish, vectors: [id: string, stream: Tagged][] = []): { [field: string]: Json } {
  const load = loadIn(wish.load) ?? 1;
  const fault = wish.trouble === "none" ? null : { ...FAULTS[wish.trouble], host: wish.host, when: { kind: "at", at_s: wish.at_s } };
  const scheduling: { [field: string]: Json } = wish.scheduling ? { scheduling: { kind: wish.scheduling } } : {};
  const moves: { [field: string]: Json } =
    wish.mover && wish.moveTo ? { moves: [{ at_s: wish.at_s, hosts: { [wish.mover]: wish.moveTo } }] } : {};
  const laws = vectors.map(([id, { dimensions }]): [string, Json] => [
    id,
    { kind: "vectors", ...(dimensions === undefined ? {} : { dimensions }), law: wish.law ?? "" },
  ]);
  const streams: { [field: string]: Json } = wish.law && laws.length ? { streams: Object.fromEntries(laws) } : {};
  const changed = Object.entries(wish.settings ?? {}).flatMap(([name, text]): [string, number][] => {
    const value = settingIn(text);
    return value === null ? [] : [[name, value]];
  });
  const adjustment = { at_s: wish.at_s, ...Object.fromEntries(changed) };
  return {
    at_s: wish.at_s,
    ...(load === 1 ? {} : { load }),
    ...(fault ? { faults: [fault] } : {}),
    ...scheduling,
    ...moves,
    ...streams,
    ...(changed.length ? { adjustments: [adjustment] } : {}),
  };
}

/** What a host with local stores can lose. */
export const LOSSES = {
  process_crash: "Its processes crash; its disk is left",
  disk_loss: "Its disk fails, so its processes crash",
  host_loss: "The host is lost, with its disk",
} as const;
export type Losing = keyof typeof LOSSES;

/** A fork in which a host is lost at a moment. restart_after_s: null if it never comes back. */
export function killBody(host: string, at_s: number, restart_after_s: number | null, kind: Losing = "host_loss"): { [field: string]: Json } {
  const fault: { [field: string]: Json } = { kind, host, when: { kind: "at", at_s } };
  if (restart_after_s !== null) fault.restart_after_s = restart_after_s;
  return { at_s, faults: [fault] };
}

/** A workset, and the worker that it goes to. */
export type WorksetMove = { space: number; number: number; to: number };

/** A fork in which worksets of a similarity join move at a moment; without moves, in which they are balanced then. */
export const balancingBody = (at_s: number, join: string, moves: WorksetMove[]): { [field: string]: Json } => ({
  at_s,
  balancing: [{ at_s, join, moves }],
});

/** A fork that is rescaled at a moment; before: the parallelism as it is there. */
export function rescaleBody(at_s: number, before: Record<string, number>, wished: Record<string, number>): { [field: string]: Json } {
  const parallelism = Object.fromEntries(Object.entries(wished).filter(([name, p]) => before[name] !== p));
  return { at_s, rescales: [{ at_s, parallelism }] };
}

/**
 * Policies to which the scheduling of a run can switch. None without a pool of cores, and none after fair threads: more of them may be in
 * service than there are cores.
 */
export function otherSchedulings({ policies, cluster }: Pick<ExperimentDocument, "policies" | "cluster">, { schedulings = [] }: Registry): Kind[] {
  const scheduling = policies?.scheduling as Tagged | undefined;
  let last = scheduling;
  while (last?.kind === "switched") last = last.after as Tagged | undefined;
  const present = scheduling?.kind ?? "none";
  const pools = cluster.hosts.every(({ processor }) => (processor as { kind?: string } | undefined)?.kind === "pool");
  if (!pools || last?.kind === "default") return [];
  return schedulings.filter(({ kind }) => kind !== present && kind !== "switched");
}

/** Why no operator of a run can move to another host in a fork; empty if they can. */
export function moveRefusal(document: ExperimentDocument, hosts: readonly string[], registry: Registry): string {
  const kind = (document.policies?.scaling as { kind?: string } | undefined)?.kind ?? "none";
  const several = document.query.operators.find(({ parallelism = 1 }) => parallelism > 1);
  if (hosts.length < 2) return "The cluster has one host";
  if (kind !== "none" && !relocates(document, registry)) return "This run rescales its operators, and a run either rescales or moves them";
  return several ? `Operators of one instance each can move, and ${several.id} has ${several.parallelism}` : "";
}

/** Seconds that were typed; null if they are none, or more than the engine takes. */
export function secondsIn(text: string): number | null {
  const seconds = Number(text.trim().replace(",", "."));
  return text.trim() && seconds >= 1e-9 && seconds <= 1e9 ? seconds : null;
}

/** What a loss does to a run with this protocol, and whether somebody takes the place of a host that never comes back. */
export function lossMeans(
  { policies }: Pick<ExperimentDocument, "policies">,
  { checkpointings = [] }: Registry,
): { text: string; replaced: boolean } {
  if (hasStores({ policies }))
    return { text: "Its stores are filled from their changelogs, and its sources read again from the last commit.", replaced: false };
  if (hasOutputLogs({ policies }))
    return { text: "Its windows are read from their output logs, and what came since is sent again.", replaced: false };
  if (hasStandbys({ policies }))
    return { text: "Standbys of its operators take over with the results that they have held back.", replaced: false };
  const protocol = policies?.checkpointing as { kind?: string; semantics?: string; spares?: number } | undefined;
  const kind = protocol?.kind ?? "none";
  const text = checkpointings.find((one) => one.kind === kind)?.loss_text ?? "";
  if (kind === "none") return { text, replaced: false };
  const again = protocol?.semantics === "at_most_once" ? "records in progress are lost" : "sources read again from there";
  return { text: `${text}; ${again}.`, replaced: (protocol?.spares ?? 0) > 0 };
}

/** Why there can be no fork at this moment; null if there can. */
export function forkRefusal(at_s: number | null, horizon_s: number, deleted: boolean): string | null {
  if (deleted) return "This run was deleted";
  if (at_s === null) return "There is no frame to fork from yet";
  if (at_s >= horizon_s) return "The input ends here: scrub back to a moment before the horizon";
  return null;
}
