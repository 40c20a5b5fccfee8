/** Rates as the server previews them: how many records a source offers over virtual time. */
import type { Tagged } from "../../api/types";

/** [time in s, records per s], the mean over each of equal parts of the horizon. */
export type Curve = [t_s: number, per_s: number][];

/** The sum of curves over the same parts; null when there is none. */
export function totalOf(curves: Curve[]): Curve | null {
  const [first] = curves;
  return first ? first.map(([t_s], at) => [t_s, curves.reduce((sum, curve) => sum + (curve[at]?.[1] ?? 0), 0)]) : null;
}

export const mean = (curve: Curve) => (curve.length ? curve.reduce((sum, [, per_s]) => sum + per_s, 0) / curve.length : 0);

/** A rate in a few words, for lists. */
export function rateSummary(rate: Tagged | undefined): string {
  if (!rate?.kind) return "no rate";
  if (rate.kind === "constant") return `${Number(rate.per_s ?? 1000).toLocaleString("en-US")}/s`;
  if (rate.kind === "recorded") return `file, ${Number(rate.speed ?? 1).toLocaleString("en-US")} ×`;
  if (rate.kind === "switched") return `${rateSummary(rate.before as Tagged)}, then ${rateSummary(rate.after as Tagged)}`;
  return rate.kind.replace(/_/g, " ");
}
