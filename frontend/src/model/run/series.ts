/** A chart's values as columns, extended as frames arrive, and the scales that suit them. */
import type { ChartLine } from "./charts";
import type { FrameLog } from "./frames";
import type { Span } from "./span";

export type Column = (number | null)[];

export interface ChartColumns {
  t_s: number[];
  columns: Column[];
}

/** The lines of one chart over the frames of a log. Values of frames that were there are not read again. */
export class Series {
  private readonly t_s: number[] = [];
  private readonly columns: Column[];
  private readonly log: FrameLog;
  private readonly lines: ChartLine[];

  constructor(log: FrameLog, lines: ChartLine[]) {
    this.log = log;
    this.lines = lines;
    this.columns = lines.map(() => []);
  }

  /** The first `count` frames. The columns grow in place; what is returned is new whenever something was added. */
  upTo(count: number): ChartColumns {
    const from = this.t_s.length;
    if (count > from) {
      for (let n = from; n < count; n += 1) this.t_s.push(this.log.timeOf(n));
      this.lines.forEach((line, index) => {
        const read = line.read(this.log);
        for (let n = from; n < count; n += 1) this.columns[index]?.push(read(n));
      });
    }
    return { t_s: this.t_s, columns: this.columns };
  }
}

/** Each column on top of the ones before it: where areas that are stacked end. */
export function stacked(columns: Column[]): Column[] {
  const sums: Column[] = [];
  for (const column of columns) {
    const below = sums.at(-1);
    sums.push(column.map((value, n) => (value === null ? null : value + (below?.[n] ?? 0))));
  }
  return sums;
}

/**
 * Where a value stands between gaps, so that no line leads to it: within the indices from..to. A time that only other lines have
 * (undefined) is no gap.
 */
export function lone(column: ArrayLike<number | null | undefined>, from: number, to: number): number[] {
  const found: number[] = [];
  let before: number | null = null; // the value before this one, null behind a gap
  let candidate = -1;
  for (let at = Math.max(0, from - 1); at <= Math.min(to + 1, column.length - 1); at += 1) {
    const value = column[at];
    if (value === undefined) continue;
    if (value === null) {
      if (candidate >= 0) found.push(candidate);
      candidate = -1;
    } else {
      candidate = before === null ? at : -1;
    }
    before = value;
  }
  if (candidate >= 0) found.push(candidate);
  return found.filter((at) => at >= from && at <= to);
}

export interface Range {
  low: number;
  high: number;
}

/** Least and greatest value over several columns, from one number to before another; null when there is no value. */
export function extent(columns: Column[], positiveOnly = false, from = 0, to = Infinity): Range | null {
  let low = Infinity;
  let high = -Infinity;
  for (const column of columns) {
    const end = Math.min(to, column.length);
    for (let n = from; n < end; n += 1) {
      const value = column[n] as number | null;
      if (value === null || (positiveOnly && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return high === -Infinity ? null : { low, high };
}

/** Latency is drawn logarithmically when it spans more than a decade. */
export function spansMoreThanADecade(columns: Column[], from = 0, to = Infinity): boolean {
  const range = extent(columns, true, from, to);
  return range !== null && range.high > range.low * 10;
}

/** At most five round steps from 0 to a little above the greatest value. */
export function linearTop(high: number): { top: number; step: number } {
  if (!(high > 0)) return { top: 1, step: 0.5 };
  const raw = high / 4;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * magnitude >= raw * 0.999) ?? 10) * magnitude;
  return { top: Math.ceil((high * 1.0001) / step) * step, step };
}

/** A logarithmic axis from a round value below the least to one above the greatest, with at most five labelled values. */
export function logAxis(range: Range): { low: number; high: number; ticks: number[] } {
  const steps: number[] = [];
  for (let exponent = Math.floor(Math.log10(range.low)) - 1; exponent <= Math.ceil(Math.log10(range.high)) + 1; exponent += 1) {
    for (const factor of [1, 2, 5]) steps.push(Number((factor * 10 ** exponent).toPrecision(1)));
  }
  const low = steps.findLast((step) => step <= range.low) ?? range.low;
  const high = steps.find((step) => step >= range.high && step > low) ?? range.high;
  const inside = steps.filter((step) => step >= low && step <= high);
  const isDecade = (step: number) => Math.abs(Math.log10(step) - Math.round(Math.log10(step))) < 1e-9;
  const decades = inside.filter(isDecade);
  const ticks = inside.length <= 5 ? inside : decades.length >= 2 ? decades : inside.filter((_, at) => at % 2 === 0);
  const stride = Math.ceil(ticks.length / 5);
  return { low, high, ticks: ticks.filter((_, at) => at % stride === 0) };
}

/** Values from `low` to `high` at which an axis has lines. */
export interface Axis {
  low: number;
  high: number;
  ticks: number[];
}

/**
 * What is drawn of columns, the topmost of stacked areas first: it is covered by those below it. overs: how many of the last are lines
 * over the areas.
 */
export function drawnColumns(columns: Column[], log: boolean, areas: boolean, overs = 0): Column[] {
  const areal = columns.length - overs;
  if (areas) return [...stacked(columns.slice(0, areal)).reverse(), ...columns.slice(areal)];
  return log ? columns.map((column) => column.map((value) => (value !== null && value <= 0 ? null : value))) : columns;
}

/** Lines in the order of their drawn columns. */
export const drawnLines = <Drawn extends { over?: boolean }>(lines: readonly Drawn[], areas: boolean): Drawn[] =>
  areas ? [...lines.filter(({ over }) => !over).reverse(), ...lines.filter(({ over }) => over)] : [...lines];

/** From 0, or logarithmic, for what is drawn within a stretch. top: the greatest value, where it is known. */
export function valueAxis(t_s: number[], drawn: Column[], span: Span, log: boolean, top?: number): Axis {
  const range = drawn.length ? extent(drawn, log, Math.max(0, firstFrom(t_s, span.from_s) - 1), firstFrom(t_s, span.to_s) + 1) : null;
  if (log && range) return logAxis(range);
  const { top: high, step } = linearTop(top === undefined ? (range?.high ?? 0) : top * 0.999);
  return { low: 0, high, ticks: Array.from({ length: Math.round(high / step) + 1 }, (_, at) => at * step) };
}

/** Index of the first time from `t_s` on. */
export function firstFrom(times: number[], t_s: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) < t_s) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Middle value of what is there in the first `count`, or null. NaN: not there. */
export function median(values: Float64Array, count: number): number | null {
  const known = values.slice(0, count).filter((value) => !Number.isNaN(value)).sort();
  return known.length ? (known[known.length >> 1] as number) : null;
}

/** Round times for the shared axis, about `count` of them, the ends included when they are round. */
export function timeTicks(to_s: number, count = 8, from_s = 0): number[] {
  if (!(to_s > from_s)) return [from_s];
  const raw = (to_s - from_s) / count;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((factor) => factor * magnitude >= raw) ?? 10) * magnitude;
  const ticks: number[] = [];
  for (let at = Math.ceil(from_s / step - 1e-9); at * step <= to_s + 1e-9; at += 1) ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}

export type { Span };

/** Narrower (factor below 1) or wider around a moment, inside the whole; null when it is the whole. */
export function zoomed(span: Span, factor: number, around_s: number, whole: Span, least_s: number): Span | null {
  const width = Math.min(whole.to_s - whole.from_s, Math.max(least_s, (span.to_s - span.from_s) * factor));
  const share = (around_s - span.from_s) / (span.to_s - span.from_s);
  const from_s = Math.max(whole.from_s, Math.min(around_s - share * width, whole.to_s - width));
  return width >= (whole.to_s - whole.from_s) * 0.999 ? null : { from_s, to_s: from_s + width };
}

/** From and to in an address, as far as they lie in a run of this length; null where they make no stretch of it. */
export function spanIn(params: URLSearchParams, end_s: number): Span | null {
  const [from_s, to_s] = [Number(params.get("from") ?? NaN), Number(params.get("to") ?? NaN)];
  return from_s >= 0 && from_s < end_s && to_s > from_s ? { from_s, to_s: Math.min(to_s, end_s) } : null;
}
