/** What happened in a run, read from its state, its frames and the faults that it was given: nothing here that is not in them. */
import type { Death, Outage, RescaleAction, Run } from "../../api/types";
import { bytes, latency, plural } from "../../lib/format";
import type { FaultMark } from "../document/faults";
import { lineText, turnText, type CheckpointHistory } from "./checkpoints";
import type { FrameLog } from "./frames";
import { recovering } from "./outages";
import { actionName, changeText, downOf } from "./scaling";

/** Names of the drawings that stand for events. */
type EventIcon = "back" | "bolt" | "check" | "checkc" | "cross" | "crossc" | "dashc" | "flag" | "fork" | "pause" | "play" | "scale" | "sink" | "undo";

export interface RunEvent {
  /** Virtual seconds; null for what has no virtual time (queued). */
  t_s: number | null;
  icon: EventIcon;
  tone: "plain" | "good" | "bad" | "warn";
  text: string;
  detail: string;
}

/** An operator counts as blocked from this share of its time on, and as free again below half of it. */
export const BLOCKED_FROM = 0.5;

export function runEvents(run: Run, log: FrameLog, warmup_s: number, faults: FaultMark[] = []): RunEvent[] {
  const events: RunEvent[] = [{ t_s: null, icon: "dashc", tone: "plain", text: "Queued", detail: clock(run.created_at) }];
  if (run.started_at) events.push({ t_s: 0, icon: "play", tone: "plain", text: "Started", detail: clock(run.started_at) });
  const first = log.column("latency_ms", "count").findIndex((count) => count > 0);
  if (first >= 0 && first < log.count)
    events.push({ t_s: log.timeOf(first), icon: "sink", tone: "plain", text: "First record delivered", detail: "" });
  const { head_s } = log;
  if (warmup_s > 0 && head_s >= warmup_s)
    events.push({ t_s: warmup_s, icon: "flag", tone: "plain", text: "Warm-up over, measurement starts", detail: "" });
  for (const fault of faults)
    if (fault.start_s <= head_s)
      events.push({
        t_s: fault.start_s,
        icon: "bolt",
        tone: "bad",
        text: fault.text,
        detail: fault.forEver ? "to the end" : `for ${Number((fault.end_s - fault.start_s).toFixed(3))} s`,
      });
  events.push(...blockedSpells(log), ...log.deaths().map(deathOf), ...recoveryEvents(log.checkpoints));
  events.push(...log.outages.flatMap(restoredEvents));
  events.push(...log.scaling.actions.flatMap(rescaleEvents));
  const end_s = run.t_s ?? head_s;
  if (run.state === "paused")
    events.push({ t_s: end_s, icon: "pause", tone: "plain", text: "Paused", detail: clock(run.paused_at ?? null) });
  if (run.state === "succeeded")
    events.push({ t_s: end_s, icon: "checkc", tone: "good", text: "Finished", detail: clock(run.finished_at) });
  if (run.state === "cancelled")
    events.push({ t_s: end_s, icon: "cross", tone: "plain", text: "Cancelled", detail: clock(run.finished_at) });
  if (run.state === "failed")
    events.push({ t_s: end_s, icon: "crossc", tone: "bad", text: run.error || "Failed", detail: clock(run.finished_at) });
  return events
    .map((event, at) => ({ event, at }))
    .sort((a, b) => (b.event.t_s ?? -1) - (a.event.t_s ?? -1) || b.at - a.at)
    .map(({ event }) => event);
}

/** A host that held too much. (Faults may keep it down for longer than its supervisor does.) */
function deathOf({ host, at_s, used_bytes, limit_bytes, restart_at_s }: Death): RunEvent {
  const text = `${host} died: ${bytes(used_bytes)} of memory used, above its limit of ${bytes(limit_bytes)}`;
  return { t_s: at_s, icon: "crossc", tone: "bad", text, detail: restart_at_s === null ? "permanently" : `restart at ${restart_at_s.toFixed(2)} s` };
}

/** What a checkpointing protocol could not do, and what it did after a loss. */
function recoveryEvents({ rounds, recoveries }: CheckpointHistory): RunEvent[] {
  const spell = (seconds: number) => latency(1000 * seconds).join(" ");
  return [
    ...rounds.flatMap(({ region, turn, ended, ended_s }): RunEvent[] => {
      if (ended_s === null || ended !== "confirmed" || !turn) return [];
      return [{ t_s: ended_s, icon: "fork", tone: "plain", text: `Region ${region} continues ${turn.to}`, detail: turnText(turn) }];
    }),
    ...rounds.flatMap(({ number, ended, ended_s, triggered_s }): RunEvent[] => {
      if (ended_s === null || (ended !== "failed" && ended !== "aborted")) return [];
      const text = ended === "failed" ? `Round ${number} failed: the store is full` : `Round ${number} aborted by a recovery`;
      return [{ t_s: ended_s, icon: "crossc", tone: ended === "failed" ? "bad" : "plain", text, detail: `after ${spell(ended_s - triggered_s)}` }];
    }),
    ...recoveries.flatMap((recovery): RunEvent[] => {
      const { hosts, detected_s, go_s } = recovery;
      const text = `Loss of ${hosts.join(", ")} detected: all instances roll back to ${lineText(recovery)}`;
      const begun: RunEvent = { t_s: detected_s, icon: "undo", tone: "warn", text, detail: "" };
      if (go_s === null) return [begun];
      return [begun, { t_s: go_s, icon: "check", tone: "good", text: "All hosts restored, processing resumes", detail: `after ${spell(go_s - detected_s)}` }];
    }),
  ];
}

/** Hosts that recovered from their stores or output logs. The loss itself is a fault. */
function restoredEvents({ host, lost_s, started_s, ready_s, restores }: Outage): RunEvent[] {
  if (started_s === null || ready_s === null) return [];
  const records = restores.reduce((sum, restore) => sum + restore.records, 0);
  const begun: RunEvent = { t_s: started_s, icon: "undo", tone: "warn", text: `${host} is up and ${recovering(restores)}`, detail: plural(records, "record") };
  const detail = `after ${latency(1000 * (ready_s - lost_s)).join(" ")}`;
  return [begun, { t_s: ready_s, icon: "check", tone: "good", text: `${host} goes on`, detail }];
}

/** An order, and what came of it: bands show them already, so that only what failed is marked on the axis. */
function rescaleEvents(action: RescaleAction): RunEvent[] {
  const { who, ordered_s, ended_s, outcome, why } = action;
  const name = actionName(action);
  const by = who === "policy" ? "the policy" : who === "document" ? "the document" : who;
  const text = `${name} ordered by ${by}: ${changeText(action)}`;
  const begun: RunEvent = { t_s: ordered_s, icon: "scale", tone: "plain", text, detail: "" };
  if (!outcome || ended_s === null) return [begun];
  if (outcome === "aborted")
    return [begun, { t_s: ended_s, icon: "crossc", tone: "bad", text: `${name} aborted: ${why || "no reason given"}`, detail: "" }];
  const down_s = downOf(action);
  const detail = down_s === null ? "" : `down ${latency(1000 * down_s).join(" ")}`;
  return [begun, { t_s: ended_s, icon: "check", tone: "plain", text: `${name} done`, detail }];
}

function blockedSpells(log: FrameLog): RunEvent[] {
  const events: RunEvent[] = [];
  for (const id of log.names("operators")) {
    const column = log.column("operators", id, "blocked");
    let since: number | null = null;
    for (let n = 0; n < log.count; n += 1) {
      const blocked = column[n] as number;
      const t_s = log.timeOf(n);
      if (since === null && blocked >= BLOCKED_FROM) {
        since = t_s;
        const detail = `${Math.round(blocked * 100)} %`;
        events.push({ t_s, icon: "back", tone: "warn", text: `${id} blocked by backpressure`, detail });
      } else if (since !== null && blocked < BLOCKED_FROM / 2) {
        const detail = `after ${(t_s - since).toFixed(1)} s`;
        events.push({ t_s, icon: "check", tone: "good", text: `${id} flows again`, detail });
        since = null;
      }
    }
  }
  return events;
}

/** Made once: a formatter takes far longer to make than to use. */
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function clock(iso: string | null): string {
  return iso ? CLOCK.format(new Date(iso)) : "";
}
