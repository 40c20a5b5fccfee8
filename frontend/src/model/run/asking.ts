/** The form of a question about many runs: which runs it is about, what it would read, and why it cannot be asked yet. */
import type { AnalysisKind, AnalysisQuestion, RunsAsked } from "../../api/analysis";
import type { FilesToRead, SelectedRuns } from "../../api/types";
import { bytes, plural, when } from "../../lib/format";
import { names, seconds } from "./analysis";

/** All succeeded runs, those of studies too. */
export const ALL_RUNS: RunsAsked = { ids: null, search: "", state: "succeeded", experiment: null, study: null, of_studies: true, tag: "" };

/** As many runs may be chosen one by one. */
export const CHOSEN_MAX = 1000;

export interface Fields {
  runs: RunsAsked;
  against: RunsAsked;
  /** Settings of the span that have no field here. */
  span: object;
  from: string;
  to: string;
  metrics: string;
  metric: string;
  x: string;
  y: string;
  by: string;
}

const FIRST: Fields = {
  runs: ALL_RUNS,
  against: ALL_RUNS,
  span: {},
  from: "",
  to: "",
  metrics: "p50_ms, p99_ms, out_per_s",
  metric: "p99_ms",
  x: "",
  y: "",
  by: "experiment",
};

/** Of the address: which runs a question begins with. */
export const ASKED_IN_ADDRESS = ["runs", "search", "state", "experiment", "study", "of_studies", "tag"] as const;
type Address = Record<(typeof ASKED_IN_ADDRESS)[number], string>;

/** The page of a new question about these runs. */
export function askLink(runs: Partial<RunsAsked>, kind: AnalysisKind = "summaries"): string {
  const { ids, search, state, experiment, study, of_studies, tag } = { ...ALL_RUNS, ...runs };
  const said = {
    ...{ runs: (ids ?? []).join(","), search, state: state === ALL_RUNS.state ? "" : state, experiment: experiment ?? "" },
    ...{ study: study ?? "", of_studies: of_studies ? "" : "no", tag },
  };
  return `/analysis?${new URLSearchParams([["ask", kind], ...Object.entries(said).filter(([, value]) => value)])}`;
}

/** Why the runs that the list finds cannot be asked about; empty if they can. state: of the list's address. */
export const listRefusal = (state: string): string =>
  ["queued", "running", "paused"].includes(state) ? "Only ended runs can be analysed" : "";

const asked = (state: string): RunsAsked["state"] => (state === "failed" || state === "cancelled" ? state : ALL_RUNS.state);

/** The runs that the list of runs finds by its address. */
export const listedRuns = (url: Omit<Address, "runs">): Partial<RunsAsked> => ({
  search: url.search,
  tag: url.tag,
  state: asked(url.state),
  experiment: url.experiment || null,
  study: url.study || null,
  of_studies: Boolean(url.study || url.of_studies),
});

/** The form that the address begins with. Both sides of a comparison start from the same runs, and each is narrowed from there. */
export function fieldsIn(url: Address): Fields {
  const ids = [...new Set(url.runs.split(",").filter(Boolean))];
  const both: RunsAsked = {
    ...ALL_RUNS,
    ids: ids.length ? ids : null,
    state: asked(url.state),
    experiment: url.experiment || null,
    study: url.study || null,
    of_studies: url.of_studies !== "no",
  };
  return { ...FIRST, runs: { ...both, search: url.search, tag: url.tag }, against: both };
}

/** The form of a question that was asked before. */
export function fieldsOf(question: AnalysisQuestion): Fields {
  const { runs, against, metrics, metric, x, y, by, span } = question;
  const { from_s, to_s, ...settings } = span;
  const text = (value_s: number | null) => (value_s === null ? "" : String(value_s));
  const given = { ...(metric ? { metric } : {}), ...(x ? { x } : {}), ...(y ? { y } : {}), ...(by ? { by } : {}) };
  return { ...FIRST, runs, against: against ?? runs, span: settings, from: text(from_s), to: text(to_s), ...(metrics ? { metrics: metrics.join(", ") } : {}), ...given };
}

const trimmed = (runs: RunsAsked): RunsAsked => ({ ...runs, search: runs.search.trim() });

/** The runs of the question and its span, as the server is asked what they are. */
export function selectionOf(kind: AnalysisKind, { runs, against, span, from, to }: Fields) {
  const known = (text: string) => (Number.isNaN(seconds(text) ?? 0) ? null : seconds(text));
  return {
    runs: trimmed(runs),
    ...(kind === "comparison" ? { against: trimmed(against) } : {}),
    span: { ...span, from_s: known(from), to_s: known(to) },
  };
}

export function questionOf(kind: AnalysisKind, fields: Fields): object {
  const { metrics, metric, x, y, by } = fields;
  return {
    kind,
    ...selectionOf(kind, fields),
    ...(kind === "surface" ? { x: x.trim(), y: y.trim(), metric: metric.trim() } : {}),
    ...(kind === "statistics" ? { by: by.trim() } : {}),
    ...(kind === "statistics" || kind === "comparison" ? { metrics: names(metrics) } : {}),
  };
}

/** Why it cannot be asked yet; empty if it can. */
export function whyNot(kind: AnalysisKind, { from, to, x, y, by, metric, metrics, runs, against }: Fields): string {
  for (const [name, text] of [["From", from], ["To", to]] as const)
    if (Number.isNaN(seconds(text) ?? 0)) return `${name} is “${text.trim()}”; enter a number of seconds, or leave it empty.`;
  if (kind === "surface" && !(x.trim() && y.trim())) return "Enter both parameters.";
  if (kind === "surface" && !metric.trim()) return "Enter a metric.";
  if (kind === "statistics" && !by.trim()) return "Enter what to group by: experiment, or a parameter.";
  if ((kind === "statistics" || kind === "comparison") && !names(metrics).length) return "Enter at least one metric.";
  if (kind === "comparison" && JSON.stringify(trimmed(runs)) === JSON.stringify(trimmed(against)))
    return "Both sides select the same runs; choose another base.";
  return "";
}

/** "23 succeeded runs of 5 experiments". */
export function countText({ all, experiments, experiment_count: count }: SelectedRuns, state: RunsAsked["state"]): string {
  if (!all.runs) return `No ${state} run matches.`;
  const of = count === 1 ? experiments[0]?.name || "one experiment" : plural(count, "experiment");
  return `${plural(all.runs, `${state} run`)} of ${of}`;
}

/** When the runs ended. */
export function endedText({ first_at: first, last_at: last }: SelectedRuns, now = new Date()): string {
  if (!first || !last) return "";
  const [from, to] = [when(first, now), when(last, now)];
  return from === to ? `ended ${from}` : `ended ${from} to ${to}`;
}

/** How many runs are new, and about how much is read. */
export function newText(fresh: FilesToRead, runs: number): string {
  if (!fresh.runs) return runs === 1 ? "read before" : "all read before";
  const size = fresh.bytes === null ? "" : `, about ${bytes(fresh.bytes)} to read`;
  return `${fresh.runs === runs ? (runs === 1 ? "new" : "all new") : `${fresh.runs.toLocaleString("en-US")} new`}${size}`;
}

/**
 * What is wrong with putting these runs together; empty if they are of one experiment, or are kept apart. A study may reuse runs of another
 * experiment, but only those of the same document.
 */
export function poolWarning(kind: AnalysisKind, by: string, { study }: RunsAsked, { experiment_count: count }: SelectedRuns): string {
  if (count < 2 || study || (kind === "statistics" && by.trim() === "experiment")) return "";
  const mixed = {
    summaries: "The percentiles of all samples together mix",
    comparison: "This side mixes",
    surface: "Each cell is a mean over",
    statistics: "Each group mixes",
  }[kind];
  const way =
    kind === "comparison"
      ? "The difference may be that of the experiments. Read only one of them."
      : "Read only one of them, or ask for statistics by experiment.";
  return `${mixed} ${plural(count, "experiment")}. ${way}`;
}

/** How far a job is: what it does, and which share of it is done; null where that cannot be told. */
export function stageOf({
  progress,
  runs,
  read,
}: {
  progress: number;
  runs: number | null;
  read: number | null;
}): { title: string; share: number | null } {
  if (runs === null || read === null) return { title: "Selecting the runs", share: null };
  if (progress >= 1) return { title: `Computing the answer from ${plural(runs, "run")}`, share: null };
  const done = Math.round(progress * read);
  return { title: `${done.toLocaleString("en-US")} of ${plural(read, "new run")} read`, share: progress };
}
