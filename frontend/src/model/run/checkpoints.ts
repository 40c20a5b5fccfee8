/** What a checkpointing protocol did: its part of the frames put together, and how that is laid out over time. */
import type { ExperimentDocument } from "../../api/document";
import type {
  CapturedCheckpoint,
  CheckpointNews,
  CheckpointRound,
  DurableCheckpoint,
  Recovery,
  RegionTurn,
  Tagged,
} from "../../api/types";
import type { Span } from "./span";

/** Whether runs of it take checkpoints. */
export const isCheckpointed = ({ policies }: ExperimentDocument) =>
  ((policies?.checkpointing as Partial<Tagged> | undefined)?.kind ?? "none") !== "none";

/** A checkpoint of one instance. durable_s: null while it is on its way to the store, and for good if it never came there. */
export interface Checkpoint extends CapturedCheckpoint {
  durable_s: number | null;
  bytes: number | null;
  kind: string;
  reason?: string;
  /** Since which checkpoint of the instance it stores what has changed. */
  base?: number;
}

/** stored: durable; line: durable, and a recovery went back to it; pending: on its way; lost: not used, because a recovery went back behind
 * it, or because its round failed; useless: no line can hold it, whatever others still take. */
export type Fate = "stored" | "line" | "pending" | "lost" | "useless";
export const FATES: Fate[] = ["stored", "lost", "pending", "useless", "line"];

export class CheckpointHistory {
  readonly rounds: CheckpointRound[] = [];
  readonly skipped_s: number[] = [];
  readonly recoveries: Recovery[] = [];
  /** Epochs whose line was searched. */
  readonly searched = new Set<number>();
  /** By operator, in the order in which they were captured or heard of. */
  readonly checkpoints = new Map<string, Checkpoint[]>();
  private readonly useless = new Set<string>();
  private readonly named = new Map<string, Checkpoint>();

  add(news: CheckpointNews): void {
    for (const round of news.rounds) put(this.rounds, round, (one) => one.number === round.number);
    for (const recovery of news.recoveries) put(this.recoveries, recovery, (one) => one.epoch === recovery.epoch);
    for (const { operator, index, number } of news.useless ?? []) this.useless.add(`${operator}\n${index}\n${number}`);
    for (const { epoch } of news.searches ?? []) this.searched.add(epoch);
    this.skipped_s.push(...news.skipped_s);
    for (const captured of news.captured) this.note({ ...captured, durable_s: null, bytes: null, kind: "" });
    for (const durable of news.durable) this.note(durable);
  }

  private note(checkpoint: Checkpoint | DurableCheckpoint): void {
    const { operator, index, number, captured_s } = checkpoint;
    const name = `${operator}\n${index}\n${number}\n${captured_s}`;
    const before = this.named.get(name);
    if (before) {
      Object.assign(before, checkpoint);
      return;
    }
    const made = { ...checkpoint };
    this.named.set(name, made);
    const others = this.checkpoints.get(operator);
    if (others) others.push(made);
    else this.checkpoints.set(operator, [made]);
  }

  /** What became of a checkpoint, as far as is known. */
  fateOf({ operator, index, number, captured_s, durable_s }: Checkpoint): Fate {
    if (this.useless.has(`${operator}\n${index}\n${number}`)) return "useless";
    const back = this.recoveryAfter(captured_s)?.line[operator]?.[index];
    if (back !== undefined && number > back) return "lost";
    if (this.roundOf(number, operator)?.ended === "failed") return "lost";
    if (durable_s === null) return "pending";
    return back === number ? "line" : "stored";
  }

  /** The first recovery that left what was captured then. Until all are restored that goes on here and there. */
  recoveryAfter(captured_s: number): Recovery | undefined {
    return this.recoveries.find(({ go_s }) => go_s === null || go_s >= captured_s);
  }

  /** The round of this number, if the operator takes part in it. */
  roundOf(number: number, operator: string): CheckpointRound | undefined {
    const at = this.rounds[number - 1];
    const found = at?.number === number ? at : this.rounds.find((round) => round.number === number);
    return found?.operators && !found.operators.includes(operator) ? undefined : found;
  }
}

/** Of checkpoints that messages forced: how many, by the rule that asked for them. */
export function forcedText(checkpoints: Pick<Checkpoint, "kind" | "reason">[]): string {
  const counts = new Map<string, number>();
  for (const { kind, reason } of checkpoints) if (kind === "forced") counts.set(reason ?? "", (counts.get(reason ?? "") ?? 0) + 1);
  if (!counts.size) return "";
  const parts = [...counts].map(([reason, count]) => `${checkpoints.length > 1 ? `${count} ` : ""}forced${reason && ` (${reason})`}`);
  return parts.join(", ");
}

/** "changes since checkpoint 3", of checkpoints that do not store all state; how many, if others of their number do. */
export function changesText(checkpoints: Pick<Checkpoint, "base">[]): string {
  const bases = checkpoints.flatMap(({ base }) => (base ? [base] : []));
  if (!bases.length) return "";
  const since = new Set(bases).size === 1 ? ` since checkpoint ${bases[0]}` : "";
  return `${bases.length < checkpoints.length ? `${bases.length} with ` : ""}changes${since}`;
}

/** Edges with something in their logs, the largest first, and all together. */
export function logSizes(logs: Record<string, number> | undefined): { edges: [edge: string, bytes: number][]; total: number } {
  const edges = Object.entries(logs ?? {}).filter(([, size]) => size > 0);
  return { edges: edges.sort(([, one], [, other]) => other - one), total: edges.reduce((sum, [, size]) => sum + size, 0) };
}

/** In the place of an earlier telling, which is among the last ones, or behind all. */
function put<Told>(all: Told[], told: Told, isSame: (one: Told) => boolean): void {
  const at = all.findLastIndex(isSame);
  if (at < 0) all.push(told);
  else all[at] = told;
}

/** Something on a row: from one moment to another, and the checkpoints that it stands for. */
export interface Bar {
  from_s: number;
  /** null: it goes on. */
  to_s: number | null;
  fate: Fate;
  checkpoints: Checkpoint[];
}

/** A row of the grid: an operator, with the checkpoints of one number as one bar, or one of its instances. */
export interface Row {
  operator: string;
  index: number | null;
  bars: Bar[];
}

/** Operators in their order; behind the one that is expanded stand its instances. */
export function rowsOf(history: CheckpointHistory, operators: { id: string; instances: number }[], expanded: string | null): Row[] {
  return operators.flatMap(({ id, instances }) => {
    const own = history.checkpoints.get(id) ?? [];
    const rows: Row[] = [{ operator: id, index: null, bars: together(history, own) }];
    if (id !== expanded) return rows;
    const single: Row[] = Array.from({ length: instances }, (_, index) => ({ operator: id, index, bars: [] }));
    for (const one of own) single[one.index]?.bars.push(barOf(history, [one]));
    return [...rows, ...single];
  });
}

/** Checkpoints of one number and fate, from the first that was captured to the last that was durable. */
function together(history: CheckpointHistory, checkpoints: Checkpoint[]): Bar[] {
  const groups = new Map<string, Checkpoint[]>();
  for (const one of checkpoints) {
    const name = `${one.number} ${history.fateOf(one)}`;
    const group = groups.get(name);
    if (group) group.push(one);
    else groups.set(name, [one]);
  }
  return [...groups.values()].map((group) => barOf(history, group));
}

function barOf(history: CheckpointHistory, checkpoints: Checkpoint[]): Bar {
  const first = checkpoints[0] as Checkpoint;
  const fate = history.fateOf(first);
  const ends = checkpoints.map(({ durable_s }) => durable_s).filter((at_s) => at_s !== null);
  const whole = ends.length === checkpoints.length;
  const given_up_s = fate === "lost" ? endOf(history, first) : null;
  return {
    from_s: checkpoints.reduce((least, { captured_s }) => Math.min(least, captured_s), first.captured_s),
    to_s: whole ? ends.reduce((most, at_s) => Math.max(most, at_s), 0) : given_up_s,
    fate,
    checkpoints,
  };
}

/** When a checkpoint that was not durable by then was given up. */
function endOf(history: CheckpointHistory, { operator, number, captured_s }: Checkpoint): number | null {
  const left_s = history.recoveryAfter(captured_s)?.detected_s;
  return history.roundOf(number, operator)?.ended_s ?? (left_s === undefined ? null : Math.max(left_s, captured_s));
}

/** Left edge and width, in px. */
export type Stretch = [x: number, width: number];

/** Narrower than this nothing can be seen. */
export const LEAST_PX = 3;

/** Where stretches of time lie on an axis so wide; those that touch are one. Open ones end at `head_s`. */
export function stretches(bars: { from_s: number; to_s: number | null }[], span: Span, width_px: number, head_s: number): Stretch[] {
  const scale = width_px / (span.to_s - span.from_s);
  const found: Stretch[] = [];
  const sorted = [...bars].sort((a, b) => a.from_s - b.from_s);
  for (const bar of sorted) {
    const to_s = bar.to_s ?? Math.max(head_s, bar.from_s);
    if (to_s < span.from_s || bar.from_s > span.to_s) continue;
    const left = (Math.max(bar.from_s, span.from_s) - span.from_s) * scale;
    const right = (Math.min(to_s, span.to_s) - span.from_s) * scale;
    const width = Math.max(LEAST_PX, right - left);
    const last = found.at(-1);
    if (last && left <= last[0] + last[1]) last[1] = Math.max(last[1], left + width - last[0]);
    else found.push([left, width]);
  }
  return found;
}

/** The one that covers a moment, or comes nearest within so many seconds. */
export function nearest<Timed extends { from_s: number; to_s: number | null }>(bars: Timed[], t_s: number, within_s: number): Timed | null {
  let best: Timed | null = null;
  let least = within_s;
  for (const bar of bars) {
    const away = Math.max(bar.from_s - t_s, t_s - (bar.to_s ?? Infinity), 0);
    if (away < least || (away === 0 && least === 0)) [best, least] = [bar, away];
  }
  return best;
}

/** What happened to one host in a recovery, in virtual seconds; null: not yet, or not known. */
export interface Stages {
  host: string;
  lost_s: number | null;
  ordered_s: number | null;
  restored_s: number | null;
}

/** By host. losses: when which host was lost, as far as is known. */
export function stagesOf(recovery: Recovery, losses: { host: string | null; start_s: number }[]): Stages[] {
  const names = [...new Set([...recovery.hosts, ...Object.keys(recovery.ordered_s), ...Object.keys(recovery.restored_s)])].sort(byName);
  return names.map((host) => ({
    host,
    lost_s: lossBefore(host, recovery, losses),
    ordered_s: recovery.ordered_s[host] ?? null,
    restored_s: recovery.restored_s[host] ?? null,
  }));
}

/** The last loss of a host before it was ordered back, if it is among those for which the recovery is. */
function lossBefore(host: string, recovery: Recovery, losses: { host: string | null; start_s: number }[]): number | null {
  if (!recovery.hosts.includes(host)) return null;
  const before = losses.filter((loss) => loss.host === host && loss.start_s <= recovery.detected_s).map(({ start_s }) => start_s);
  return before.length ? Math.max(...before) : null;
}

const COLLATOR = new Intl.Collator("en", { numeric: true });
const byName = (a: string, b: string) => COLLATOR.compare(a, b);

/** "round 3", where all instances go back to one number; otherwise how far they go apart. */
export function lineText(recovery: Recovery): string {
  if (recovery.found_s === null) return "a recovery line that is still being searched for";
  const numbers = Object.values(recovery.line).flat();
  const least = Math.min(...numbers);
  const most = Math.max(...numbers);
  if (!numbers.length || most === 0) return "the start of the run";
  return least === most ? `checkpoint ${most}` : `checkpoints ${least === 0 ? "0 (the start)" : least} to ${most}`;
}

/** What a round changes its region to, and why. */
export function turnText({ to, why, measured, limit }: RegionTurn): string {
  const percent = (share: number) => `${Number((100 * share).toFixed(1))} %`;
  const reasons = {
    skipped: "a round was due while another one was in progress",
    wait: `instances waited for barriers for ${percent(measured)} of the interval, more than ${percent(limit)}`,
    load: `the busiest instance served ${Number(measured.toFixed(2))} times the mean, less than ${Number(limit.toFixed(2))}`,
  };
  return `from here on ${to}: ${reasons[why]}`;
}
