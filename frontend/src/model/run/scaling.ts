/** How the parallelism of a run changed: its part of the frames put together, who decided what, and why nothing happens at a moment. */
import type { ExperimentDocument } from "../../api/document";
import type { Problem, Registry, RescaleAction, ScalingDecision, ScalingNews, ScalingState, Tagged } from "../../api/types";
import { latency, short } from "../../lib/format";
import { instancesOf } from "../document/document";
import type { Span } from "./span";

type Parallelism = Record<string, number>;

/** What a document says about scaling. */
export const scalingOf = ({ policies }: Pick<ExperimentDocument, "policies">): Tagged =>
  (policies?.scaling as Tagged | undefined) ?? { kind: "none" };

/** What a registry calls the policy, and how its orders are carried out if that is not the usual way. */
export function policyText(document: Pick<ExperimentDocument, "policies">, titles: readonly { kind: string; title: string }[] = []): string {
  const { kind, rescaling } = scalingOf(document);
  const title = titles.find((one) => one.kind === kind)?.title ?? kind.replace(/_/g, " ");
  return (rescaling as Partial<Tagged> | undefined)?.kind === "in_place" ? `${title}, in place` : title;
}

/** Whether the parallelism of its runs may change. */
export const isScaled = (document: Pick<ExperimentDocument, "policies">) => scalingOf(document).kind !== "none";

/** Whether it changes where operators are, and not how many instances they have. */
export const relocates = (document: Pick<ExperimentDocument, "policies">, { scalings = [] }: Registry): boolean =>
  scalings.find(({ kind }) => kind === scalingOf(document).kind)?.relocates ?? false;

/** Whether it is asked again and again; others know their orders beforehand. */
export const isAsked = (document: Pick<ExperimentDocument, "policies">, { scalings = [] }: Registry): boolean =>
  scalings.find(({ kind }) => kind === scalingOf(document).kind)?.decides_live ?? false;

/** From this moment on. */
export interface Step {
  t_s: number;
  parallelism: Parallelism;
}

/** What the policy is about from this frame on. */
interface Phase {
  t_s: number;
  state: ScalingState;
  until_s: number | null;
  next_s: number | null;
  /** Records that wait in all topics at its end. */
  lag: number;
  /** Records a second that came in it. */
  offered_per_s: number;
}

/** Times that were read from decimal fractions. */
const EPSILON_S = 1e-9;

export class ScalingHistory {
  readonly decisions: ScalingDecision[] = [];
  readonly actions: RescaleAction[] = [];
  /** Parallelism as it was, and as it was wished for; each begins at 0. */
  readonly steps: Step[] = [];
  readonly wishes: Step[] = [];
  private readonly phases: Phase[] = [];
  private until_s = 0;

  /** What the frame that ends at this moment says. offered_per_s: what came in it. */
  add(news: ScalingNews, t_s: number, offered_per_s: number | null = null): void {
    for (const action of news.actions) {
      const at = this.actions.findLastIndex(({ number }) => number === action.number);
      if (at < 0) this.actions.push(action);
      else this.actions[at] = action;
    }
    this.decisions.push(...news.decisions);
    // In a frame the parallelism changes when an arrangement takes place, and the wish when an order is given.
    const arranged = timed(news.actions, ({ arranged_s, outcome }) => (outcome === "aborted" ? null : arranged_s), this.until_s);
    const ordered = timed(news.actions, ({ ordered_s }) => ordered_s, this.until_s);
    follow(this.steps, arranged, news.parallelism, t_s);
    follow(this.wishes, ordered, news.wanted, t_s);
    const { state, until_s, next_s } = news;
    this.phases.push({ t_s, state, until_s, next_s, lag: sum(news.lag), offered_per_s: offered_per_s ?? 0 });
    this.until_s = t_s;
  }

  /** End of the last frame. */
  get head_s(): number {
    return this.until_s;
  }

  /** The last iteration up to a moment. */
  decisionAt(t_s: number): ScalingDecision | undefined {
    return this.decisions[lastUpTo(this.decisions, t_s)];
  }

  /** Number of that iteration, -1 before the first one. */
  numberAt(t_s: number): number {
    return lastUpTo(this.decisions, t_s);
  }

  /** The last order up to a moment, whether or not it is carried out by then. */
  actionAt(t_s: number): RescaleAction | undefined {
    return this.actions.findLast(({ ordered_s }) => ordered_s <= t_s + EPSILON_S);
  }

  /** The order that an iteration gave. */
  actionOf({ t_s, verdict }: ScalingDecision): RescaleAction | undefined {
    return verdict === "order" ? this.actions.find((one) => one.who === "policy" && Math.abs(one.ordered_s - t_s) < 1e-6) : undefined;
  }

  /** What the frame says that covers a moment. */
  phaseAt(t_s: number): Phase | undefined {
    return this.phases[Math.min(this.after(t_s - 2 * EPSILON_S), this.phases.length - 1)];
  }

  /**
   * How long it took from going on until no more waited in the topics than at the stop, or than comes in a second: to the end of a
   * frame, since only then it is known what waits. over: no frame will come.
   */
  drainOf(action: RescaleAction, over: boolean): Drain {
    const { number, stopped_s, ended_s, lag_before, lag_after } = action;
    if (stopped_s === null) return { seconds: null, why: action.outcome ? NO_SOURCE : over ? RUN_ENDED : "No source has stopped yet" };
    if (ended_s === null) return { seconds: null, why: action.outcome ? "It did not resume" : over ? RUN_ENDED : "In progress: it has not resumed yet" };
    const isLow = (lag: number, { offered_per_s }: Phase) => lag <= Math.max(lag_before ?? 0, offered_per_s);
    const next = this.actions.find((one) => one.number > number && one.stopped_s !== null);
    const first = this.after(ended_s - 2 * EPSILON_S);
    for (let n = first; n < this.phases.length; n++) {
      const phase = this.phases[n] as Phase;
      if (n === first && lag_after !== null && isLow(lag_after, phase)) return { seconds: 0, why: "" };
      if (next?.stopped_s != null && next.stopped_s < phase.t_s)
        return { seconds: null, why: `${actionName(next)} stopped the sources at ${moment(next.stopped_s)}, before it had drained` };
      if (isLow(phase.lag, phase)) return { seconds: phase.t_s - ended_s, why: "" };
    }
    const waits = short(this.phases.at(-1)?.lag ?? 0);
    return { seconds: null, why: over ? `${waits} records were waiting at the end of the run` : `Not yet: ${waits} records are waiting` };
  }

  /** Number of the first phase that ends after a moment. */
  private after(t_s: number): number {
    return lastUpTo(this.phases, t_s) + 1;
  }
}

/** Why a rescale has no outage. */
export const NO_SOURCE = "No source stopped";
/** Why one will not come to its end. */
export const RUN_ENDED = "The run ended first";

/** Time to drain what had piled up; why: where it is not known. */
export interface Drain {
  seconds: number | null;
  why: string;
}

/** An iteration that was asked for, and the moment on show since. */
export interface ChosenIteration {
  number: number;
  moment_s: number;
}

/** Number of the iteration on show at a moment: a frame may hold several, so the chosen one until the moment changes, else the last one. */
export const iterationAt = (history: Pick<ScalingHistory, "numberAt" | "decisions">, moment_s: number, chosen: ChosenIteration | null): number =>
  chosen?.moment_s === moment_s && chosen.number < history.decisions.length ? chosen.number : history.numberAt(moment_s);

/** Index of the last one up to a moment; -1 if all are later. */
function lastUpTo(all: readonly { t_s: number }[], t_s: number): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle] as { t_s: number }).t_s <= t_s + EPSILON_S) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

interface Change {
  t_s: number;
  action: RescaleAction;
}

/** Actions with a time after the last frame, by that time. */
function timed(actions: RescaleAction[], timeOf: (action: RescaleAction) => number | null, after_s: number): Change[] {
  return actions
    .flatMap((action) => {
      const t_s = timeOf(action);
      return t_s !== null && (t_s > after_s || after_s === 0) ? [{ t_s, action }] : [];
    })
    .sort((a, b) => a.t_s - b.t_s);
}

/** Adds what leads from the last step to how it is at the end of a frame. */
function follow(steps: Step[], changes: Change[], end: Parallelism, t_s: number): void {
  const first = changes[0]?.action.before ?? {};
  if (!steps.length) steps.push({ t_s: 0, parallelism: { ...end, ...first } });
  const append = (at_s: number, next: Parallelism) => {
    if (!sameAs(steps.at(-1)?.parallelism ?? {}, next)) steps.push({ t_s: at_s, parallelism: next });
  };
  for (const change of changes) append(change.t_s, { ...steps.at(-1)?.parallelism, ...change.action.after });
  append(t_s, { ...end });
}

const sameAs = (one: Parallelism, other: Parallelism) =>
  Object.keys(one).length === Object.keys(other).length && Object.entries(other).every(([name, value]) => one[name] === value);

const sum = (parallelism: Parallelism) => Object.values(parallelism).reduce((before, p) => before + p, 0);

/** Columns that hold from each time to the next: by operator, and how many instances were requested. Ends at the head. */
export interface Stairs {
  t_s: number[];
  columns: number[][];
  wish: number[];
}

export function stairs({ steps, wishes }: ScalingHistory, operators: readonly string[], head_s: number): Stairs {
  const times = [...new Set([...steps, ...wishes].map(({ t_s }) => t_s).filter((t_s) => t_s < head_s))];
  const t_s = [...times.sort((a, b) => a - b), ...(steps.length ? [head_s] : [])];
  const at = (all: Step[]) => t_s.map((time) => all[Math.max(0, lastUpTo(all, time))]?.parallelism ?? {});
  const was = at(steps);
  return { t_s, columns: operators.map((name) => was.map((one) => one[name] ?? 0)), wish: at(wishes).map(sum) };
}

/** A rescale on the axis of time. to_s, down.to_s: null while it goes on. */
export interface Band {
  action: RescaleAction;
  from_s: number;
  to_s: number | null;
  down: { from_s: number; to_s: number | null } | null;
}

/** Within a stretch. */
export function bandsIn(history: ScalingHistory, span: Span): Band[] {
  return history.actions
    .map((action): Band => {
      const { ordered_s, stopped_s, ended_s, outcome } = action;
      const to_s = outcome ? (ended_s ?? ordered_s) : null;
      return { action, from_s: ordered_s, to_s, down: stopped_s === null ? null : { from_s: stopped_s, to_s } };
    })
    .filter(({ from_s, to_s }) => from_s <= span.to_s && (to_s ?? Infinity) >= span.from_s);
}

/** The band that a moment is in, or the nearest within so many seconds. */
export function bandAt(bands: readonly Band[], t_s: number, within_s = 0): Band | null {
  let best: Band | null = null;
  let least = within_s + EPSILON_S;
  for (const band of bands) {
    const away = Math.max(band.from_s - t_s, t_s - (band.to_s ?? Infinity), 0);
    if (away < least || (away === 0 && best === null)) [best, least] = [band, away];
  }
  return best;
}

/** Of what the time of a rescale is made; seconds: null of a part that goes on. */
export interface RescalePart {
  id: "wait" | "drain" | "store" | "restart" | "fetch" | "start";
  label: string;
  from_s: number;
  to_s: number | null;
  means: string;
}

const PARTS: [id: RescalePart["id"], label: string, from: keyof RescaleAction, to: keyof RescaleAction, means: string][] = [
  ["wait", "wait", "ordered_s", "stopped_s", "From the order until the first source stops; a checkpoint round in progress ends first"],
  ["drain", "drain", "stopped_s", "drained_s", "Records in progress are processed, until the last capture"],
  ["store", "store", "drained_s", "stored_s", "The savepoint is written"],
  ["restart", "restart", "stored_s", "arranged_s", "The job is deleted and restarts, with new pods if there are more instances"],
  ["fetch", "fetch", "arranged_s", "restored_s", "Each host reads the key groups of its instances"],
  ["start", "start", "restored_s", "ended_s", "Until the last source reads again"],
];

/** What some of them are called where a rescale is in place. */
const IN_PLACE: Partial<Record<RescalePart["id"], [label: string, means: string]>> = {
  wait: ["wait", "From the order until the first instance stops: new pods start, and a checkpoint round in progress ends first"],
  store: ["store", "Key groups that move are written"],
  restart: ["switch", "Once everything is stored, the assignment changes"],
  fetch: ["fetch", "New owners read their key groups"],
  start: ["start", "Until all stopped instances resume"],
};

/** In the order in which they come; the last one goes on, or was cut off by the end of an aborted rescale. */
export function partsOf(action: RescaleAction): RescalePart[] {
  const parts: RescalePart[] = [];
  // In place there may be no source that stops.
  const times = { ...action, stopped_s: action.stopped_s ?? action.drained_s };
  for (const [id, ...told] of PARTS) {
    const [, from, to] = told;
    const [label, means] = (action.kind === "in_place" && IN_PLACE[id]) || [told[0], told[3]];
    const [from_s, to_s] = [times[from] as number | null, times[to] as number | null];
    if (from_s === null) break;
    const end_s = to_s ?? (action.outcome ? action.ended_s : null);
    parts.push({ id, label, from_s, to_s: end_s, means });
    if (to_s === null) break;
  }
  return parts;
}

/** An action as it stood at a moment: what came later is not known yet. */
export function knownAt(action: RescaleAction | undefined, t_s: number): RescaleAction | undefined {
  if (!action || action.ordered_s > t_s + EPSILON_S) return undefined;
  const until = (time: number | null) => (time !== null && time <= t_s + EPSILON_S ? time : null);
  const ended_s = until(action.ended_s);
  const { stopped_s, drained_s, stored_s, arranged_s, restored_s } = action;
  const times = { stopped_s: until(stopped_s), drained_s: until(drained_s), stored_s: until(stored_s), arranged_s: until(arranged_s) };
  const over = ended_s !== null || action.ended_s === null;
  return { ...action, ...times, restored_s: until(restored_s), ended_s, outcome: over ? action.outcome : "", why: over ? action.why : "" };
}

/** From the stop of the first source (or instance, in place) until all goes on, in s; null while it lasts, or where nothing stopped. */
export const downOf = ({ stopped_s, ended_s }: RescaleAction): number | null =>
  stopped_s === null || ended_s === null ? null : ended_s - stopped_s;

/** What changes, by operator: those that the two name differently. */
export const changesOf = ({ before, after }: Pick<RescaleAction, "before" | "after">): [operator: string, from: number | undefined, to: number][] =>
  Object.entries(after)
    .filter(([name, p]) => before[name] !== p)
    .map(([name, p]) => [name, before[name], p]);

export const changeText = (action: Pick<RescaleAction, "before" | "after" | "moves">): string =>
  Object.entries(action.moves ?? {})
    .map(([name, [from, to]]) => `${name} ${from} → ${to}`)
    .join(", ") ||
  changesOf(action)
    .map(([name, from, to]) => (from === undefined ? `${name} to ${to}` : `${name} ${from} → ${to}`))
    .join(", ") || "nothing";

/** More workers than before, fewer, or as many. */
export const direction = ({ before, after }: Pick<RescaleAction, "before" | "after">): -1 | 0 | 1 => {
  const more = changesOf({ before, after }).reduce((total, [, from, to]) => total + to - (from ?? to), 0);
  return more > 0 ? 1 : more < 0 ? -1 : 0;
};

export const spell = (seconds: number) => latency(1000 * seconds).join(" ");
export const moment = (t_s: number) => `${Number(t_s.toFixed(2)).toLocaleString("en-US")} s`;

const WHO: Record<string, string> = { policy: "by the policy", document: "by the document" };

/** Whether an order changes where operators are. Operators of a run either move or are rescaled. */
export const isMove = ({ moves }: Pick<RescaleAction, "moves">): boolean => Object.keys(moves ?? {}).length > 0;

export const actionName = (action: Pick<RescaleAction, "number" | "moves">) => `${isMove(action) ? "Move" : "Rescale"} ${action.number}`;

export const actionTitle = (action: RescaleAction) => `${actionName(action)}, ordered ${WHO[action.who] ?? `by ${action.who}`}`;

/** One line for the band of a rescale. */
export function bandText(action: RescaleAction, head_s: number): string {
  const down_s = downOf(action);
  const end = action.outcome === "aborted" ? `; aborted: ${action.why || "no reason given"}` : down_s === null ? "" : `; down ${spell(down_s)}`;
  return `${actionTitle(action)}: ${changeText(action)}; ${partsText(action, head_s)}${end}`;
}

/** How long each part of its time took, or has taken so far. */
export const partsText = (action: RescaleAction, head_s: number): string =>
  partsOf(action)
    .map(({ label, from_s, to_s }) => (to_s === null ? `${label} since ${spell(Math.max(0, head_s - from_s))}` : `${label} ${spell(to_s - from_s)}`))
    .join(", ");

/** Operators that are scaled as one, by forward edges: in the order of the document. */
export function verticesOf({ query }: Pick<ExperimentDocument, "query">): string[][] {
  const vertexOf = new Map(query.operators.map(({ id }) => [id, new Set([id])]));
  for (const { source, target, partitioning } of query.edges) {
    if (partitioning.kind !== "forward") continue;
    const together = new Set([...(vertexOf.get(source) ?? []), ...(vertexOf.get(target) ?? [])]);
    for (const id of together) vertexOf.set(id, together);
  }
  const order = query.operators.map(({ id }) => id);
  return [...new Set(vertexOf.values())].map((vertex) => order.filter((id) => vertex.has(id)));
}

/** The parallelism at a frame; the document's own where nothing changes it. */
export const parallelismAt = (document: Pick<ExperimentDocument, "query">, scaling: Pick<ScalingNews, "parallelism"> | undefined): Parallelism =>
  Object.fromEntries(document.query.operators.map((one) => [one.id, scaling?.parallelism?.[one.id] ?? instancesOf(one)]));

/** Labels of what policies compute, what it means, and whether it is a rate. */
const VALUES: Record<string, [label: string, means: string, kind: "rate" | "share" | "count" | "factor"]> = {
  target: ["target", "Records per second that it should process", "rate"],
  tpr: ["true rate", "Records per second that its instances would process if they were never idle", "rate"],
  tor: ["true output", "Records per second that they would emit if never idle", "rate"],
  opt: ["optimum", "Instances needed, before rounding; –: no true rate, so the maximum", "factor"],
  catch_up: ["catch up", "Extra records per second to work off the backlog", "rate"],
  factor: ["factor", "Factor on the number of instances, or the share added", "factor"],
  ineffective: ["ineffective", "The last increase helped less than expected", "count"],
  beta: ["blocked", "Share of time its senders were blocked", "share"],
  pending_rate: ["queue grows", "Growth of its topic, in records per second", "rate"],
  consumed_rate: ["reads", "Records per second that it reads", "rate"],
  fill: ["fill", "Share of its input buffers in use", "share"],
  lag: ["lag", "Records waiting in its topic", "count"],
  util: ["utilisation", "Share of time it was not idle", "share"],
  rel: ["load by reading", "Incoming records as a share of records read; –: not counted", "factor"],
  r: ["load by target", "CPU load as a share of the target; –: within tolerance or unknown", "factor"],
  window: ["highest request", "The most instances requested within its stabilisation window", "count"],
};

export interface ToldValue {
  label: string;
  text: string;
  means: string;
}

export function valueTold(name: string, value: number | null): ToldValue {
  if (name.startsWith("to ")) return { label: name, means: "Records per second on this edge", text: value === null ? "–" : `${short(value)}/s` };
  const [label, means, kind] = VALUES[name] ?? [name.replace(/_/g, " "), "", "factor"];
  if (value === null) return { label, means, text: "–" };
  if (name === "ineffective") return { label, means, text: "yes" };
  return { label, means, text: kind === "share" ? `${short(100 * value)} %` : kind === "rate" ? `${short(value)}/s` : short(value) };
}

/** What DS2 requests for an operator without a true rate (`UNBOUNDED` in engine/autoscaling/policy.py). */
const UNBOUNDED = 2 ** 32 - 1;

export const isUnbounded = (instances: number) => instances >= UNBOUNDED;

/** Instances that a policy requests, or that a rule leaves of the request. */
export const requestTold = (instances: number) => (isUnbounded(instances) ? "no limit" : short(instances));

const RULES: Record<string, [label: string, means: string]> = {
  over_provisioning: ["reserve", "Multiplied by the over-provisioning factor, rounded up"],
  step_max: ["step", "Limit on instances added at a time"],
  bounds: ["bounds", "Bounds of the operator, of its partitions or of its key groups"],
  workers_max: ["limit", "Scaled down to the largest number of instances allowed"],
};

/** What the loop did to a wish. */
export const ruleTold = (rule: string): [label: string, means: string] => RULES[rule] ?? [rule.replace(/_/g, " "), ""];

export type Tone = "plain" | "good" | "warn" | "bad";

const UNDER_WAY: Partial<Record<ScalingState, string>> = {
  stopping: "records in progress are processed, up to the savepoint",
  restarting: "the job restarts",
  restoring: "state is fetched",
};

interface Told {
  text: string;
  tone: Tone;
}

/**
 * What a policy is about at a moment and, where nothing is done, why not. number: of an earlier iteration of the frame that is on show.
 * asked: the policy is asked during the run. over: no frame will come.
 */
export function whyNot(
  history: ScalingHistory,
  document: Pick<ExperimentDocument, "policies">,
  asked: boolean,
  t_s: number,
  number?: number,
  over = false,
): Told {
  const earlier = number === undefined || number === history.numberAt(t_s) ? undefined : history.decisions[number];
  if (earlier) return decisionTold(history, earlier, t_s);
  const phase = history.phaseAt(t_s);
  if (!phase) return { text: "No frame yet.", tone: "plain" };
  const action = history.actionAt(t_s);
  const { state, until_s, next_s } = phase;
  const next = next_s === null || (over && next_s > history.head_s) ? "" : ` The next ${asked && !isOrdered(document, next_s) ? "iteration" : "order"} is at ${moment(next_s)}.`;
  if (state in UNDER_WAY) {
    const isOver = !action || (action.outcome !== "" && (action.ended_s ?? 0) <= t_s + EPSILON_S);
    if (isOver && over && history.head_s <= t_s + EPSILON_S)
      return { text: `A recovery was still in progress when the run ended, at ${moment(history.head_s)}.`, tone: "warn" };
    if (isOver) return { text: "A recovery is in progress: all instances roll back to a checkpoint. The policy makes no decisions until it ends.", tone: "warn" };
    const what = state === "restarting" && action.kind === "in_place" ? "moving state is stored" : (UNDER_WAY[state] ?? "");
    if (over && !action.outcome)
      return { text: `${actionName(action)} was still in progress when the run ended, at ${moment(history.head_s)}: ${what}.`, tone: "warn" };
    const until = until_s !== null && until_s > t_s ? `, until ${moment(until_s)}` : "";
    return { text: `${actionName(action)} is in progress: ${what}${until}. The policy makes no decisions until it ends.`, tone: "warn" };
  }
  const aborted = action?.outcome === "aborted" && action.ended_s !== null && action.ended_s <= t_s + EPSILON_S;
  const failed = aborted ? `${actionName(action)} was aborted: ${action.why || "no reason given"}.` : "";
  if (!asked)
    return plainly(`${failed || BY_HAND[scalingOf(document).kind] || BY_HAND.manual}${next || " No orders left."}`, failed ? "bad" : "plain");
  if (state === "starting")
    return plainly(`Before its first iteration the policy only reads metrics${next_s === null ? "" : `, until ${moment(next_s)}`}.`);
  if (state === "cooldown") {
    const since = action ? ` after the order at ${moment(action.ordered_s)}` : "";
    const ends = until_s === null ? "" : `${since && ","} until ${moment(until_s)}`;
    return { text: `${failed && `${failed} `}Cooldown${since}${ends}: the policy reads no metrics and makes no decisions.${next}`, tone: failed ? "bad" : "warn" };
  }
  const decision = history.decisionAt(t_s);
  if (!decision) return plainly(`No iteration yet.${next}`);
  const { text, tone } = failed && action && action.ordered_s >= decision.t_s - EPSILON_S ? { text: failed, tone: "bad" as const } : decisionTold(history, decision, t_s);
  return { text: `${text}${next}`, tone };
}

/** What came of an iteration, as far as it is known at a moment. */
function decisionTold(history: ScalingHistory, decision: ScalingDecision, t_s: number): Told {
  const { verdict, why } = decision;
  if (verdict === "no_metrics") return { text: `Skipped for lack of metrics: ${why || "some are missing"}.`, tone: "warn" };
  if (verdict === "busy") return { text: `Skipped: ${why || "an order is in progress"}.`, tone: "warn" };
  if (verdict === "keep") return plainly(`Nothing to do: ${why || "the requested parallelism is already running"}.`);
  const action = knownAt(history.actionOf(decision), t_s);
  if (action?.outcome === "aborted") return { text: `${actionName(action)} was aborted: ${action.why || "no reason given"}.`, tone: "bad" };
  const because = why && `${why.replace(/^./, (letter) => letter.toUpperCase())}. `;
  const what = action && isMove(action) ? "A move" : "A rescale";
  return { text: `${because}${what} was ordered.`, tone: "good" };
}

const plainly = (text: string, tone: Tone = "plain") => ({ text, tone });

/** Whether the document orders a rescale at this moment. */
const isOrdered = (document: Pick<ExperimentDocument, "policies">, t_s: number) => {
  const { orders, moves } = scalingOf(document) as { orders?: { at_s?: number }[]; moves?: { at_s?: number }[] };
  return (orders ?? moves ?? []).some(({ at_s }) => Math.abs((at_s ?? NaN) - t_s) < EPSILON_S);
};

/** Of those that are not asked. */
const BY_HAND: Record<string, string> = {
  manual: "No policy decides: rescales happen only when ordered.",
  move: "No policy decides: operators move only when ordered.",
  fixed: "The parallelism stays as chosen before the run.",
  oracle: "The oracle decided everything before the run.",
};

/** Why the parallelism of this document's runs cannot be changed; null if, as far as the page knows, it can. */
export function rescaleRefusal(
  { policies, query }: Pick<ExperimentDocument, "policies" | "query">,
  registry: Registry,
): string | null {
  const { checkpointings = [] } = registry;
  if (relocates({ policies }, registry)) return "Operators of this run move to other hosts, with one instance each";
  const protocol = (policies?.checkpointing as Partial<Tagged> | undefined)?.kind ?? "none";
  if (checkpointings.find(({ kind }) => kind === protocol)?.rescalable === false)
    return `The parallelism cannot change under the protocol ${protocol.replace(/_/g, " ")}: its stored data belongs to channels whose ends would move`;
  if (query.edges.some(({ feedback }) => feedback)) return "The query has a cycle, and records would still circulate in it behind a barrier";
  return null;
}

/** So many instances a run without scaling may have in a fork, unless its orders need more. */
const WORKERS_MAX = 70;

/** The document of a fork that rescales all vertices, in another way: what the server has against it says what cannot be done. */
export function rescaleProbe(document: ExperimentDocument, at_s: number, other: string): ExperimentDocument {
  const named = verticesOf(document).flatMap(([id]) => document.query.operators.filter((one) => one.id === id));
  const order = { at_s, parallelism: Object.fromEntries(named.map((one) => [one.id, instancesOf(one) + 1])) };
  const ordered = document.query.operators.reduce((total, one) => total + instancesOf(one) + 1, 0);
  const own = isScaled(document) ? scalingOf(document) : { kind: "manual", workers_max: Math.max(WORKERS_MAX, ordered) };
  return { ...document, policies: { ...document.policies, scaling: { ...own, rescaling: { kind: other }, orders: [order] } } };
}

/** other: what is said against the other way; stays: by operator, why its parallelism stays; all: why nothing can be rescaled. */
export interface Probed {
  other: string;
  stays: Record<string, string>;
  all: string;
}

const ORDERS = "/policies/scaling/orders/";

export function probed(problems: readonly Problem[]): Probed {
  const errors = problems.filter(({ severity }) => severity === "error");
  const stays = errors.filter(({ pointer, code }) => pointer.startsWith(`${ORDERS}0/parallelism/`) && code === "not_scalable");
  const others = errors.filter(({ pointer }) => !pointer.startsWith(ORDERS) && !pointer.startsWith("/policies/scaling/rescaling"));
  return {
    other: errors.find(({ pointer }) => pointer.startsWith("/policies/scaling/rescaling"))?.message ?? "",
    stays: Object.fromEntries(stays.map(({ pointer, message }) => [nameIn(pointer), message])),
    all: others.map(({ message }) => message).join(" "),
  };
}

const nameIn = (pointer: string) => (pointer.split("/").at(-1) ?? "").replace(/~1/g, "/").replace(/~0/g, "~");
