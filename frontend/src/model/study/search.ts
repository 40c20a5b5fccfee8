/** What a search for load knows so far, in words, and the growth that each verdict rests on. */
import type { StudySearch } from "../../api/types";
import { short } from "../../lib/format";
import { foundByPoint } from "./chart";
import { valueText } from "./study";

/** The sustainable load of a point, as far as it is known. */
export interface Known {
  value: string;
  more: string;
}

/** searches: one per seed. active: the study still runs, so that what is open may still be found. */
export function knownLoad(searches: readonly StudySearch[], active: boolean): Known {
  const failure = searches.find((one) => one.failure)?.failure;
  if (failure) return { value: "unknown", more: failure };
  if (!searches.some(({ tried }) => tried.length)) return { value: "not known yet", more: active ? "no run has ended" : "no run ended" };
  const seeds = searches.length > 1 ? `, ${searches.length} seeds` : "";
  const least = lowest(searches.map(({ sustained }) => sustained));
  const above = highest(searches.map(({ failed }) => failed));
  if (searches.every(({ over }) => over)) {
    if (least === null) return { value: "none", more: `not every seed sustains a load of the range${seeds}` };
    if (above === null) return { value: `at least ${valueText(least)}`, more: `the top of the range is sustained: try a larger range${seeds}` };
    const [found] = foundByPoint({ points: [], found: [...searches], count: 1 });
    const range = searches.length > 1 ? `, ${valueText(least)} to ${valueText(found?.most ?? least)} over ${searches.length} seeds` : "";
    return { value: valueText(Number((found?.median ?? least).toPrecision(4))), more: `${valueText(above)} is not sustained${range}` };
  }
  const bounds = [least !== null && `at least ${valueText(least)}`, above !== null && `below ${valueText(above)}`].filter(Boolean);
  return { value: bounds.join(", ") || "not known yet", more: `${active ? "searching" : "the search was stopped"}${seeds}` };
}

/** Over seeds, of which each has a number; null where one has none. */
const lowest = (numbers: (number | null)[]) => (numbers.every((one) => one !== null) ? Math.min(...numbers) : null);
const highest = (numbers: (number | null)[]) => (numbers.every((one) => one !== null) ? Math.max(...numbers) : null);

export interface Tried {
  load: number;
  y: number;
  sustained: boolean;
  run: string | null;
  text: string;
}

/** Measures of growth in the verdict; both are judged by the same limit. */
export const GROWTHS = [
  { name: "queue", title: "Queue growth", unit: "% of the offered rate" },
  { name: "latency", title: "Latency growth", unit: "% (10 ms per second are 1 %)" },
] as const;
export type Growth = (typeof GROWTHS)[number]["name"];

/** Every load that was tried with its growth, in %. Runs without a measurement have no spot. */
export function spotsOf(searches: readonly StudySearch[], growth: Growth): Tried[] {
  return searches.flatMap(({ seed, tried }) =>
    tried.flatMap(({ load, sustained, reasons, figures, run, number }) => {
      const share = growth === "latency" ? figures.latency_growth : ratio(figures.queue_growth_per_s, figures.offered_per_s);
      if (share === undefined) return [];
      const y = 100 * share;
      const told = [`load ${valueText(load)}: <b>${short(y)} %</b>`, `run ${number ?? "–"}, seed ${seed}`, sustained ? "sustained" : reasons.join("<br>")];
      return [{ load, y, sustained, run, text: told.join("<br>") }];
    }),
  );
}

const ratio = (part: number | undefined, of: number | undefined) => (part === undefined || !of ? undefined : part / of);
