/** Placement advice as the canvas shows it: candidates in words and numbers, and whether the experiment has changed since. */
import type { ExperimentDocument } from "../../api/document";
import type { Advice, AdviceCandidate, AdviceModels, AdviceQuestion, Filtered, Goal, OutsideTraining } from "../../api/types";
import { latency, short } from "../../lib/format";
import { expandHosts } from "./hosts";

/** title: of a column. short: beside a number. isMost: more is better. */
interface Cost {
  id: Goal;
  title: string;
  short: string;
  isMost: boolean;
}

export const GOALS: readonly Cost[] = [
  { id: "processing_latency", title: "Processing latency", short: "processing", isMost: false },
  { id: "end_to_end_latency", title: "End-to-end latency", short: "end to end", isMost: false },
  { id: "throughput", title: "Throughput", short: "", isMost: true },
];

export const goalOf = (id: Goal): Cost => GOALS.find((goal) => goal.id === id) ?? (GOALS[0] as Cost);

const RATE = "records/s";
const valueOf = (goal: Goal, value: number): [value: string, unit: string] => (goal === "throughput" ? [short(value), RATE] : latency(value));

export const costText = (goal: Goal, value: number) => valueOf(goal, value).join(" ");

/** From the lowest to the highest member, with one unit where both have the same: "11.2–13.9 ms". Of a rate it stands beside already. */
export function rangeText(goal: Goal, members: readonly number[]): string {
  if (members.length < 2) return "";
  const [low, high] = [valueOf(goal, Math.min(...members)), valueOf(goal, Math.max(...members))];
  if (goal === "throughput") return `${low[0]}–${high[0]}`;
  return low[1] === high[1] ? `${low[0]}–${high.join(" ")}` : `${low.join(" ")} – ${high.join(" ")}`;
}

/** Closer to the present placement than this factor, a prediction counts as the same. */
const SAME = 1.05;

/** How a prediction compares with that of the present placement; empty where there is nothing to compare with. */
export function comparedText(goal: Goal, value: number, present: number | undefined): string {
  if (present === undefined || !(value > 0) || !(present > 0)) return "";
  const better = goalOf(goal).isMost ? value / present : present / value;
  if (better >= SAME) return `${short(better)} times better`;
  return 1 / better >= SAME ? `${short(1 / better)} times worse` : "about the same";
}

const FILTERED: Record<Filtered, { told: string; kept: string }> = {
  fails: { told: "predicted to fail", kept: "that are predicted to fail" },
  "falls behind": { told: "predicted to fall behind", kept: "that are predicted to fall behind" },
  "members differ": { told: "models disagree", kept: "on which the models disagree" },
};

export const relaxedText = (filter: Filtered) => `No other candidate is left, so those ${FILTERED[filter].kept} are ranked, too.`;

export const RULES: Record<2 | 3, string> = {
  2: "data flows to hosts of the same strength or more",
  3: "data never returns to a host that it has left",
};

const ORIGINS: { [origin: string]: string } = {
  present: "present",
  drawn: "drawn at random",
};

export interface AdviceRow {
  /** Of the candidate, in the answer. */
  number: number;
  /** From 1 on, in the order of the table. */
  place: number;
  /** Null for a candidate that was filtered out. */
  rank: number | null;
  isPresent: boolean;
  hosts: { [operator: string]: string };
  /** With its unit. */
  predicted: [value: string, unit: string];
  range: string;
  compared: string;
  others: string[];
  votes: string[];
  used: string;
  /** Every operator with its host. */
  told: string;
  origin: string;
  filtered: string;
  /** The rule of placements that it breaks. */
  rule: 2 | 3 | null;
}

/** The candidates in the order of the answer, in which filtered ones are last. */
export function rowsOf(advice: Advice): AdviceRow[] {
  const present = advice.candidates.find(({ origin }) => origin === "present")?.mean[advice.goal];
  let rank = 0;
  return advice.order.flatMap((number, at) => {
    const candidate = advice.candidates[number];
    if (!candidate) return [];
    const isFiltered = candidate.filtered !== null;
    if (!isFiltered) rank += 1;
    return [{ number, place: at + 1, rank: isFiltered ? null : rank, ...told(advice.goal, candidate, present) }];
  });
}

function told(goal: Goal, candidate: AdviceCandidate, present: number | undefined): Omit<AdviceRow, "number" | "place" | "rank"> {
  const { hosts, origin, mean, costs, votes, members, filtered, rule } = candidate;
  const predicted = mean[goal];
  const isPresent = origin === "present";
  const names = new Set(Object.values(hosts));
  return {
    isPresent,
    hosts,
    predicted: predicted === undefined ? ["–", ""] : valueOf(goal, predicted),
    range: rangeText(goal, costs[goal] ?? []),
    compared: isPresent || predicted === undefined ? "" : comparedText(goal, predicted, present),
    others: GOALS.flatMap(({ id, short: words }) => {
      const value = mean[id];
      return id === goal || value === undefined ? [] : [`${costText(id, value)} ${words}`.trim()];
    }),
    votes: [`${votes.success} of ${members} deliver`, `${votes.flows} of ${members} keep up`],
    used: names.size === 1 ? "1 host" : `${names.size} hosts`,
    told: Object.entries(hosts)
      .map(([operator, host]) => `${operator} on ${host}`)
      .join(", "),
    origin: ORIGINS[origin] ?? origin,
    filtered: filtered === null ? "" : FILTERED[filtered].told,
    rule,
  };
}

/** A candidate as the canvas draws placements. */
export const drawnHosts = (hosts: { [operator: string]: string }): Record<string, string[]> =>
  Object.fromEntries(Object.entries(hosts).map(([id, host]) => [id, [host]]));

/** Whether every operator stands on the candidate's host, and nowhere else. */
export const isInPlace = (hosts: { [operator: string]: string }, placement: Record<string, string[]>) =>
  Object.entries(hosts).every(([id, host]) => placement[id]?.length && placement[id].every((name) => name === host));

/** Whether the document has exactly the operators, and the hosts, that a candidate places. */
export function fits(hosts: { [operator: string]: string }, document: ExperimentDocument): boolean {
  const names = new Set(expandHosts(document).map(({ name }) => name));
  const { operators } = document.query;
  return Object.keys(hosts).length === operators.length && operators.every(({ id }) => names.has(hosts[id] ?? ""));
}

/** Parts of a document that predictions depend on, besides the placement. */
const READ = ["query", "cluster", "workload", "prices"] as const;

const isSame = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);

/** Whether models would be asked the same about both documents. */
export const asksTheSame = (one: ExperimentDocument, other: ExperimentDocument) =>
  [...READ, "placement" as const].every((part) => isSame(one[part], other[part]));

/** Whether the experiment has changed since it was asked about, other than by applying a candidate. */
export function isStale(
  asked: ExperimentDocument,
  now: ExperimentDocument,
  placement: Record<string, string[]>,
  candidates: readonly AdviceCandidate[],
): boolean {
  if (!READ.every((part) => isSame(asked[part], now[part]))) return true;
  return !isSame(asked.placement, now.placement) && !candidates.some(({ hosts }) => isInPlace(hosts, placement));
}

export const NO_SETTINGS: AdviceQuestion = { goal: "processing_latency", models: "", pinned: {}, forbidden: [] };

export const modelsOf = (models: readonly AdviceModels[], name: string) => models.find((one) => one.name === name) ?? models[0];

/** The question for these settings: a goal that the models have, and only operators and hosts of the document. */
export function questionOf(settings: AdviceQuestion, models: readonly AdviceModels[], document: ExperimentDocument): AdviceQuestion {
  const chosen = modelsOf(models, settings.models);
  const goals = GOALS.filter(({ id }) => chosen?.goals.includes(id));
  const names = new Set(expandHosts(document).map(({ name }) => name));
  const ids = new Set(document.query.operators.map(({ id }) => id));
  return {
    goal: (goals.find(({ id }) => id === settings.goal) ?? goals[0] ?? goalOf(settings.goal)).id,
    models: chosen?.name ?? settings.models,
    pinned: Object.fromEntries(Object.entries(settings.pinned).filter(([id, host]) => ids.has(id) && names.has(host))),
    forbidden: settings.forbidden.filter((name) => names.has(name)),
  };
}

/** Names of features and their units; one that is not here is told by its own name. */
const FEATURES: { [feature: string]: [words: string, unit?: string] } = {
  event_rate: ["rate", RATE],
  n_int: ["integer values"],
  n_double: ["floating-point values"],
  n_string: ["text values"],
  width_in: ["values per input record"],
  width_out: ["values per output record"],
  window_size: ["window size"],
  window_slide: ["window slide"],
  window_type: ["window"],
  window_policy: ["window policy"],
  filter_function: ["comparison"],
  literal_dtype: ["type of the constant"],
  key_dtype: ["type of the key"],
  agg_dtype: ["type of the values"],
  agg_function: ["function"],
  group_by_dtype: ["type of the group key"],
  cpu: ["CPU", "%"],
  ram: ["memory", "MB"],
  bandwidth: ["bandwidth", "Mbit/s"],
  latency: ["latency", "ms"],
};

const TYPES: { [type: string]: string } = { agg: "aggregate", windowed_agg: "windowed aggregate" };

/** "latency of host: 500 ms; training had 1 to 160 ms", a line for each feature. */
export function outsideTexts(outside: readonly OutsideTraining[]): string[] {
  const features = new Map<string, OutsideTraining[]>();
  for (const one of outside) {
    const key = `${one.type} ${one.feature}`;
    features.set(key, [...(features.get(key) ?? []), one]);
  }
  return [...features.values()].map((found) => {
    const { type, feature, least, most } = found[0] as OutsideTraining;
    const [words, unit] = FEATURES[feature] ?? [feature.replaceAll("_", " ")];
    const withUnit = (text: string) => (unit ? `${text} ${unit}` : text);
    const values = withUnit([...new Set(found.map(({ value }) => numberText(value)))].join(", "));
    const span = least === null || most === null ? "not in training" : `training had ${withUnit(`${short(least)} to ${short(most)}`)}`;
    return `${words} of ${TYPES[type] ?? type}: ${values}; ${span}`;
  });
}

const numberText = (value: unknown) => (typeof value === "number" ? short(value) : String(value));

const CHANGES: Record<string, (before: number, after: number) => string> = {
  cpu_percent: () => "twice the CPU",
  ram_mb: () => "twice the memory",
  mbit_per_s: () => "twice the bandwidth",
  latency_ms: (before, after) => `${short(before - after)} ms less latency`,
};

/** What would change the predicted cost of the best candidate, most first. */
export function reasonTexts(advice: Pick<Advice, "goal" | "order" | "candidates" | "reasons">): string[] {
  const best = advice.candidates[advice.order[0] ?? -1]?.mean[advice.goal];
  return advice.reasons.map((reason) => {
    const cost = `${costText(advice.goal, reason.cost)}${best === undefined ? "" : ` in place of ${costText(advice.goal, best)}`}`;
    if (reason.kind === "other_host") return `If ${reason.operator} stayed on ${reason.host}: ${cost}`;
    const change = CHANGES[reason.feature]?.(reason.before, reason.after) ?? `another ${reason.feature.replaceAll("_", " ")}`;
    return `If ${reason.host} had ${change}: ${cost}`;
  });
}
