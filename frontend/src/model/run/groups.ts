/** Groups of runs: how their measures are drawn beside one another. */
import type { MeasuredOfGroup } from "../../api/types";

/** The place of a value on the scale that all groups of a column share, 0 to 1. */
export interface Scale {
  place: (value: number) => number;
  isLog: boolean;
}

/** The scale of a measure over some groups: logarithmic where its values span more than a factor of ten; null without any value. */
export function scaleOf(measures: readonly MeasuredOfGroup[]): Scale | null {
  const ends = measures.flatMap(({ min, max }) => (min === null || max === null ? [] : [min, max]));
  if (!ends.length) return null;
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const isLog = low > 0 && high / low > 10;
  const of = (value: number) => (isLog ? Math.log10(value) : value);
  const width = of(high) - of(low);
  return { isLog, place: (value) => (width > 0 ? (of(value) - of(low)) / width : 0.5) };
}
