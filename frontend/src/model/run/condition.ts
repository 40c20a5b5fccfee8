/** Conditions in a search of runs: `p99>500ms`, `/workload/sources/bids/rate/per_s=5000` (docs/web-api.md). */

export const SIGNS = ["=", "!=", "<", "<=", ">", ">="] as const;
export type Sign = (typeof SIGNS)[number];

/** Why there can be no such condition; null if there can. */
export function conditionRefusal(name: string, value: string): string | null {
  if (!name.trim()) return "Choose a metric or a parameter";
  if (/[\s<>=!]/.test(name.trim())) return "A name has no spaces and none of < > = !";
  if (!value.trim()) return "Enter a value to compare with";
  return /\s/.test(withoutGap(value)) ? "A value has no spaces" : null;
}

/** "500 ms" as the search takes it, "500ms". */
const withoutGap = (value: string) => value.trim().replace(/^([-+.\d]+)\s+([a-zA-Zµ%/]+)$/, "$1$2");

/** The search with one condition more; the same condition stands there once. */
export function withCondition(search: string, name: string, sign: Sign, value: string): string {
  const condition = `${name.trim()}${sign}${withoutGap(value)}`;
  const words = search.split(/\s+/).filter(Boolean);
  return words.includes(condition) ? search : [...words, condition].join(" ");
}
