/** Conditions in a search of runs: `p99>10`, `/workload/sources/bids/rate/per_s=5000` (docs/web-api.md). */

export const SIGNS = ["=", "!=", "<", "<=", ">", ">="] as const;
export type Sign = (typeof SIGNS)[number];

/** Why there can be no such condition; null if there can. */
export function conditionRefusal(name: string, value: string): string | null {
  if (!name.trim()) return "Choose a metric or a parameter";
  if (/[\s<>=!]/.test(name.trim())) return "A name has no spaces and none of < > = !";
  if (!value.trim()) return "Enter a value to compare with";
  return /\s/.test(value.trim()) ? "A value has no spaces" : null;
}

/** The search with one condition more; the same condition stands there once. */
export function withCondition(search: string, name: string, sign: Sign, value: string): string {
  const condition = `${name.trim()}${sign}${value.trim()}`;
  const words = search.split(/\s+/).filter(Boolean);
  return words.includes(condition) ? search : [...words, condition].join(" ");
}
