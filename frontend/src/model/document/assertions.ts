/** Assertions of an experiment: what they may name, common ones to begin with, and their verdicts in words (docs/assertions.md). */
import type { ExperimentDocument } from "../../api/document";
import type { AssertionCount, Kind, MeasuredSide, RunVerdict } from "../../api/types";
import { short } from "../../lib/format";
import { freeOf } from "../../lib/names";
import type { Completion, Offer } from "./completion";
import { expandHosts } from "./hosts";
import { furtherOf } from "./latencies";

/** An assertion as the document has it; a draft may lack anything. */
export type WrittenAssertion = { name?: string; check?: string; note?: string };

const isObject = (value: unknown): value is WrittenAssertion => typeof value === "object" && value !== null && !Array.isArray(value);

export const assertionsOf = (document: ExperimentDocument): WrittenAssertion[] =>
  Array.isArray(document.assertions) ? (document.assertions as unknown[]).map((one) => (isObject(one) ? one : {})) : [];

/** Common assertions. Their limits are examples: everybody has limits of their own. */
export const COMMON: readonly { name: string; check: string }[] = [
  { name: "p99 latency below 1 s", check: "latency_ms.p99 < 1000" },
  { name: "No record lost", check: "lost == 0 and dropped == 0 and shed == 0" },
  { name: "No record late", check: "late == 0" },
  { name: "Recovers within 20 s", check: "recovery.longest_s <= 20" },
  { name: "Every rescale within 30 s", check: "rescales.longest_s <= 30" },
  { name: "Keeps up at the end", check: "backlog < 1000" },
  { name: "p99 below 1 s from 10 to 20 s", check: "all(between(frames.latency_ms.p99, 10, 20) < 1000)" },
];

/** One more, under a name that no other has. */
export function withAssertion(all: WrittenAssertion[], { name, check }: { name: string; check: string }): WrittenAssertion[] {
  return [...all, { name: freeOf(name, all.map((one) => one.name)), check }];
}

export interface Measurement {
  name: string;
  unit: string;
  about: string;
  series: boolean;
}

/** More names are no help, and take long to search. */
const NAMES_MAX = 20_000;

/** What can be named, with the parts of this document where the registry has a part in angle brackets. */
export function measurementsOf(kinds: readonly Kind[], document: ExperimentDocument): Measurement[] {
  const parts: Record<string, string[]> = {
    "<operator>": document.query.operators.map(({ id }) => id),
    "<host>": expandHosts(document).map(({ name }) => name),
    "<latency>": furtherOf(document.measurement).flatMap(({ name }) => (name ? [name] : [])),
  };
  const found: Measurement[] = [];
  for (const { kind, unit = "", doc, type } of kinds) {
    const part = /<\w+>/.exec(kind)?.[0];
    for (const value of part ? (parts[part] ?? ["1"]) : [""]) {
      if (found.length >= NAMES_MAX) return found;
      found.push({ name: part ? kind.replace(part, value) : kind, unit, about: doc, series: type === "series" });
    }
  }
  return found;
}

const OFFERED_MAX = 8;
const WORDS = ["and", "or", "not"];

/** What can stand at the caret of a check: names that begin with the word or hold it, functions, words. wanted: an empty word will do. */
export function checkCompletionsAt(
  text: string,
  caret: number,
  measurements: Measurement[],
  functions: readonly Kind[],
  wanted = false,
): Offer {
  const word = /[A-Za-z_][\w.-]*$/.exec(text.slice(0, caret))?.[0] ?? "";
  const from = caret - word.length;
  const to = caret + (/^[\w.]*/.exec(text.slice(caret))?.[0].length ?? 0);
  if (!word && !wanted) return { from, to, items: [] };
  const sought = word.toLowerCase();
  const all: Completion[] = [
    ...measurements.map(({ name, unit, about, series }) => ({
      text: name,
      detail: series ? `${unit} over time` : unit,
      help: about,
      caret: name.length,
    })),
    ...functions.map(({ kind, title, doc }) => ({ text: `${kind}()`, detail: title.slice(kind.length), help: doc, caret: kind.length + 1 })),
    ...WORDS.map((one) => ({ text: one, detail: "", help: "", caret: one.length })),
  ];
  const rank = ({ text: name }: Completion) => {
    const at = name.toLowerCase().indexOf(sought);
    return at === 0 ? 0 : at > 0 && name[at - 1] === "." ? 1 : at > 0 && sought.length > 1 ? 2 : 3;
  };
  const items = all
    .map((one) => ({ one, at: rank(one) }))
    .filter(({ at }) => at < 3)
    .sort((a, b) => a.at - b.at)
    .slice(0, OFFERED_MAX)
    .map(({ one }) => one);
  const isDone = items[0]?.text === text.slice(from, to);
  return { from, to, items: isDone ? [] : items };
}

/** "42.1 ms"; of a series its range; of a number that was still growing "10 s or more". */
export function measuredText({ least, most, unit }: MeasuredSide): string {
  const value = most === null ? `${short(least)}` : least === most ? short(least) : `${short(least)} to ${short(most)}`;
  const shown = unit && unit !== "share" ? `${value} ${unit}` : value;
  return most === null ? `${shown} or more` : shown;
}

/** "2 hold, 1 fails, 1 cannot be judged". */
export function verdictsText(verdicts: readonly Pick<RunVerdict, "state">[]): string {
  const count = (state: RunVerdict["state"]) => verdicts.filter((one) => one.state === state).length;
  const told = (number: number, one: string, many: string) => (number ? [`${number} ${number === 1 ? one : many}`] : []);
  return [
    ...told(count("holds"), "holds", "hold"),
    ...told(count("fails"), "fails", "fail"),
    ...told(count("cannot be judged"), "cannot be judged", "cannot be judged"),
  ].join(", ");
}

/** What counts most: "1 of 4 fails", then "2 of 4 not judged", then "4 hold". */
export function outcomeText(verdicts: readonly Pick<RunVerdict, "state">[]): string {
  const of = (state: RunVerdict["state"]) => verdicts.filter((one) => one.state === state).length;
  const [fail, unjudged] = [of("fails"), of("cannot be judged")];
  if (fail) return `${fail} of ${verdicts.length} ${fail === 1 ? "fails" : "fail"}`;
  if (unjudged) return `${unjudged} of ${verdicts.length} not judged`;
  return `${verdicts.length} ${verdicts.length === 1 ? "holds" : "hold"}`;
}

/** The share of a point's runs in which an assertion holds, and what the others are. */
export function shareText({ holds, fails, not_judged }: AssertionCount): string {
  const rest = [...(fails ? [`${fails} fail${fails === 1 ? "s" : ""}`] : []), ...(not_judged ? [`${not_judged} not judged`] : [])];
  return [`${holds} of ${holds + fails + not_judged} hold`, ...rest].join(", ");
}

/** Of all assertions of a point together: the worst. */
export const worstOf = (counts: readonly AssertionCount[]): RunVerdict["state"] | null =>
  !counts.length
    ? null
    : counts.some(({ fails }) => fails)
      ? "fails"
      : counts.some(({ not_judged }) => not_judged)
        ? "cannot be judged"
        : "holds";
