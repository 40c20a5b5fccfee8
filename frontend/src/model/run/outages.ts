/** Losses of hosts with local stores or output logs: what frames tell, and how far a recovery has come. */
import type { Outage } from "../../api/types";

/** Adds what a frame tells. A loss that is known already is told anew, with more. */
export function addOutages(outages: Outage[], told: readonly Outage[]): void {
  for (const one of told) {
    const at = outages.findIndex(({ host, lost_s }) => host === one.host && lost_s === one.lost_s);
    if (at < 0) outages.push(one);
    else outages[at] = one;
  }
}

export interface Restoring {
  store: string;
  /** From which log, and why. */
  from: string;
  records: number;
  bytes: number;
  took_ms: number;
  /** 0 to 1, at the moment asked for. */
  done: number;
}

export interface OutageAt {
  host: string;
  lost_s: number;
  /** What it is doing at the moment asked for, in words. */
  does: string;
  tone: "bad" | "warn" | "good";
  disk: string;
  lost_changes: number;
  results_again: number;
  again: number | null;
  restores: Restoring[];
}

/** The losses until a moment, the newest first, as they stand then. */
export function outagesAt(outages: readonly Outage[], t_s: number): OutageAt[] {
  return outages
    .filter(({ lost_s }) => lost_s <= t_s)
    .map((one) => {
      const { host, lost_s, started_s, ready_s, disk_lost, lost_changes, results_again, again } = one;
      const up = started_s !== null && started_s <= t_s;
      const again_s = outages.find((other) => other.host === host && other.lost_s > lost_s)?.lost_s ?? Infinity;
      const over = up && ready_s !== null && ready_s <= Math.min(t_s, again_s);
      return {
        host,
        lost_s,
        ...(!over && again_s <= t_s ? LOST_AGAIN : standing(one, up, over)),
        disk: disk_lost ? "lost" : "left",
        lost_changes,
        results_again,
        again: over ? again : null,
        restores: up ? restoresAt(one, t_s) : [],
      };
    })
    .reverse();
}

const LOST_AGAIN = { does: "was lost again before it went on", tone: "bad" } as const;

/** What a host does until it goes on. */
export const recovering = (restores: Outage["restores"]) =>
  restores.some(({ way }) => way === "output_log") ? "reads its output logs" : "fills its stores";

function standing({ lost_s, started_s, ready_s, restores }: Outage, up: boolean, over: boolean): Pick<OutageAt, "does" | "tone"> {
  if (!up) return { does: "is down", tone: "bad" };
  if (!over) return { does: `is up since ${(started_s ?? 0).toFixed(2)} s and ${recovering(restores)}`, tone: "warn" };
  return { does: `went on after ${((ready_s ?? 0) - lost_s).toFixed(2)} s`, tone: "good" };
}

function sourceText(way: Outage["restores"][number]["way"], why: string): string {
  if (way === "output_log") return "its output log";
  return way === "local" ? "its disk and the end of the changelog" : `the whole changelog: ${why}`;
}

/** As many stores at a time as the host has cores: one that waits has not begun. */
function restoresAt({ started_s, ready_s, disk_lost, restores }: Outage, t_s: number): Restoring[] {
  const over = ready_s !== null && ready_s <= t_s;
  return restores.map(({ store, way, reason, records, bytes, took_ms }) => ({
    store,
    from: sourceText(way, disk_lost ? "its disk is lost" : reason),
    records,
    bytes,
    took_ms,
    done: over || took_ms === 0 ? 1 : Math.min(1, (1000 * (t_s - (started_s ?? t_s))) / took_ms),
  }));
}
