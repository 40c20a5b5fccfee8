/** A preview of how many records a source offers over virtual time. For the eye only; the engine makes the records. */
import type { Tagged } from "./document";

const number = (value: unknown, fallback = 0) => (typeof value === "number" && Number.isFinite(value) ? value : fallback);

/** Records per second at a moment, or null where the rate comes from the data itself (recorded times). */
export function rateAt(rate: Tagged | undefined, t_s: number): number | null {
  switch (rate?.kind) {
    case "constant":
      return number(rate.per_s);
    case "steps": {
      const steps = (Array.isArray(rate.steps) ? rate.steps : []) as { at_s?: number; per_s?: number }[];
      let value = 0;
      for (const step of [...steps].sort((a, b) => number(a?.at_s) - number(b?.at_s)))
        if (number(step?.at_s) <= t_s) value = number(step?.per_s);
      return value;
    }
    case "cosine": {
      const period_s = number(rate.period_s, 1) || 1;
      const angle = (2 * Math.PI * (t_s - number(rate.phase_s))) / period_s;
      return Math.max(0, number(rate.mean_per_s) + number(rate.amplitude_per_s) * Math.cos(angle));
    }
    default:
      return null;
  }
}

/** Samples over the horizon, one more than `points`; null when the rate is not known beforehand. */
export function previewRate(rate: Tagged | undefined, horizon_s: number, points = 240): number[] | null {
  if (rateAt(rate, 0) === null) return null;
  return Array.from({ length: points + 1 }, (_, index) => rateAt(rate, (index / points) * horizon_s) ?? 0);
}

export const mean = (values: number[]) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0);

/** A rate in a few words, for lists. */
export function rateSummary(rate: Tagged | undefined): string {
  if (!rate) return "no rate";
  if (rate.kind === "constant") return `${Number(rate.per_s ?? 1000).toLocaleString("en-US")}/s`;
  if (rate.kind === "recorded") return `file, ${Number(rate.speed ?? 1).toLocaleString("en-US")} ×`;
  return rate.kind;
}
