/** Frames as columns for the charts, and the scales that suit them. */
import type { Frame } from "../api/types";

export type Column = (number | null)[];

export interface ChartColumns {
  t_s: number[];
  latency: [p50: Column, p95: Column, p99: Column];
  rates: [offered: Column, served: Column, delivered: Column];
  queues: [backlog: Column, queued: Column];
}

/** The frames with another of their latencies in place of the first; the empty name is the first. */
export function withLatency(frames: Frame[], name: string): Frame[] {
  return name ? frames.map((frame) => ({ ...frame, latency_ms: frame.latencies_ms?.[name] ?? NO_LATENCY })) : frames;
}

const NO_LATENCY = { count: 0, p50: null, p95: null, p99: null, max: null };

/** Records that wait in front of operators, from the operators' own samples. */
export function queuedRecords(frame: Frame): number | null {
  let sum: number | null = null;
  for (const sample of Object.values(frame.operators ?? {}))
    if (sample.queue !== null && sample.queue !== undefined) sum = (sum ?? 0) + sample.queue;
  return sum;
}

export function columnsOf(frames: Frame[]): ChartColumns {
  const take = (pick: (frame: Frame) => number | null | undefined): Column => frames.map((frame) => pick(frame) ?? null);
  return {
    t_s: frames.map((frame) => frame.t_s),
    latency: [take((f) => f.latency_ms?.p50), take((f) => f.latency_ms?.p95), take((f) => f.latency_ms?.p99)],
    rates: [take((f) => f.offered_per_s), take((f) => f.in_per_s), take((f) => f.out_per_s)],
    queues: [take((f) => f.backlog), take(queuedRecords)],
  };
}

export interface Range {
  low: number;
  high: number;
}

/** Least and greatest value over several columns; null when there is no value. */
export function extent(columns: Column[], positiveOnly = false): Range | null {
  let low = Infinity;
  let high = -Infinity;
  for (const column of columns) {
    for (const value of column) {
      if (value === null || (positiveOnly && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return high === -Infinity ? null : { low, high };
}

/** Latency is drawn logarithmically when it spans more than a decade. */
export function spansMoreThanADecade(columns: Column[]): boolean {
  const range = extent(columns, true);
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

/** Middle value of what is there, or null. */
export function median(column: Column): number | null {
  const values = column.filter((value) => value !== null).sort((a, b) => a - b);
  return values.length ? (values[values.length >> 1] as number) : null;
}

/** Round times for the shared axis, about `count` of them, the end included when it does not crowd the last. */
export function timeTicks(end_s: number, count = 8): number[] {
  if (!(end_s > 0)) return [0];
  const raw = end_s / count;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((factor) => factor * magnitude >= raw) ?? 10) * magnitude;
  const ticks: number[] = [];
  for (let at = 0; at * step <= end_s + 1e-9; at += 1) ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}
