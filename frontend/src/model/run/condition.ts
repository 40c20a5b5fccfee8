/** Conditions in a search of runs: `p99>500ms`, `p99:1s..10s`, `state=failed|cancelled`, `no:tag` (docs/web-api.md). */
import { SCALED_UNITS } from "./runFields";

/** As long as the server takes a search. */
export const SEARCH_LENGTH_MAX = 4000;

export const SIGNS = ["=", "!=", "<", "<=", ">", ">="] as const;
export type Sign = (typeof SIGNS)[number];

const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const WORD = new RegExp(`(?:${QUOTED}|\\S)+`, "gs");
const ALL_QUOTED = new RegExp(`^${QUOTED}$`, "s");
/** What stands before a sign or a colon, and all after the sign. */
const NAMED = new RegExp(`^(${QUOTED}|[^\\s"<>=!|:]+)(=|:)(.+)$`, "s");
const SIMPLE_NAME = /^\/?[A-Za-z_][\w.+@~-]*(?:\/[\w.+@~-]+)*$/;
const SIMPLE_TEXT = /^[A-Za-z_][\w+@-]*(?:\.[\w+@-]+)*$/;

/** Why there can be no such condition; null if there can. */
export function conditionRefusal(name: string, value: string): string | null {
  const own = name.trim();
  if (!own) return "Choose a metric or a parameter";
  if (!ALL_QUOTED.test(own) && /[\s<>=!"]/.test(own)) return "Put a name with spaces or with < > = ! into quotation marks";
  if (!value.trim()) return "Enter a value to compare with";
  const words = wordsOf(withoutGap(value));
  if ((value.match(/(?<!\\)"/g)?.length ?? 0) % 2) return "Close the quotation mark";
  return words.length > 1 ? 'Put a value with spaces into quotation marks, as in "two words"' : null;
}

/** "500 ms" as the search takes it, "500ms". */
const withoutGap = (value: string) => value.trim().replace(/^([-+.\d]+)\s+([a-zA-Zµ%/]+)$/, "$1$2");

/** The words of a search; what stands in quotation marks is part of one word. */
export const wordsOf = (search: string): string[] => search.match(WORD) ?? [];

/** The search with one condition more; the same condition stands there once. */
export function withCondition(search: string, name: string, sign: Sign, value: string): string {
  return withWord(search, `${name.trim()}${sign}${withoutGap(value)}`);
}

function withWord(search: string, word: string): string {
  const words = wordsOf(search);
  return words.includes(word) ? search : [...words, word].join(" ");
}

/** The search without one of its words. */
export const withoutWord = (search: string, word: string): string =>
  wordsOf(search)
    .filter((one) => one !== word)
    .join(" ");

/** The search in which a field is chosen anew: in place of its earlier range or values, if it has one. */
export const chosenAnew = (search: string, name: string, condition: string): string =>
  withWord(
    wordsOf(search)
      .filter((word) => choiceOf(word) !== name)
      .join(" "),
    condition,
  );

/** The field of a word that chooses values or a range of it; null for any other word. */
export function choiceOf(word: string): string | null {
  const read = NAMED.exec(word);
  if (read?.[1] !== undefined && !PREFIXES.includes(read[1])) return unquoted(read[1]);
  return read?.[1] === "no" && read[2] === ":" ? unquoted(read[3] ?? "") : null;
}

const PREFIXES = ["note", "assertions", "no", "has"];

/** The words of a search that choose values or a range of a field. */
export const choicesOf = (search: string, name: string): string[] => wordsOf(search).filter((word) => choiceOf(word) === name);

// --- how parts of a condition are written ---------------------------------------------------------------------------------------------

const ESCAPED: { [character: string]: string } = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r" };
const UNESCAPED: { [letter: string]: string } = { n: "\n", t: "\t", r: "\r" };

const quoted = (text: string) => `"${text.replace(/[\\"\n\t\r]/g, (character) => ESCAPED[character] ?? character)}"`;
const unquoted = (text: string) =>
  ALL_QUOTED.test(text) ? text.slice(1, -1).replace(/\\(.)/gs, (_, letter: string) => UNESCAPED[letter] ?? letter) : text;

export const nameWritten = (name: string): string => (SIMPLE_NAME.test(name) ? name : quoted(name));

const textWritten = (text: string, plain: boolean) => (plain && SIMPLE_TEXT.test(text) ? text : quoted(text));

/** A field has exactly one of these values; texts are quoted where the field also has numbers. */
export function oneOf(name: string, values: readonly (string | number)[], hasNumbers: boolean): string {
  return `${nameWritten(name)}=${values.map((value) => (typeof value === "number" ? String(value) : textWritten(value, !hasNumbers))).join("|")}`;
}

/** A field lies in a range, both ends included. unit: of the field. */
export function inRange(name: string, ends: readonly [number, number], unit: string): string {
  const own = SCALED_UNITS.includes(unit) ? unit : "";
  return `${nameWritten(name)}:${outwards(ends).map((end) => `${end}${own}`).join("..")}`;
}

/** The ends of a range in as many digits as the eye can tell; none of what lies in it is lost. */
export const outwards = ([low, high]: readonly [number, number]): [string, string] => [
  rounded(low, high - low, Math.floor),
  rounded(high, high - low, Math.ceil),
];

export const unset = (name: string): string => `no:${nameWritten(name)}`;

function rounded(value: number, width: number, round: (value: number) => number): string {
  if (!(width > 0)) return String(value);
  const step = 10 ** (Math.floor(Math.log10(width)) - 3);
  // Divided by the reciprocal where the step is below one, which keeps decimals short: 0.3, not 0.30000000000000004.
  const ends = step < 1 ? round(value * Math.round(1 / step)) / Math.round(1 / step) : round(value / step) * step;
  return String(ends);
}

/** Runs by number, those that follow one another as ranges: `number=1..3|7`. numbers: at least one. */
export function ofNumbers(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const spans: [number, number][] = [];
  for (const number of sorted) {
    const last = spans.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else spans.push([number, number]);
  }
  return `number=${spans.map(([first, last]) => (first === last ? String(first) : `${first}..${last}`)).join("|")}`;
}
