/** Questions about a run's records in words, and their answers as rows. */
import type { Frame, Question, Run, Selection, Waterfall } from "../../api/types";
import { percent, plural } from "../../lib/format";
import { PATH_PARTS } from "./parts";

export const SLOWEST = 5;
const SAMPLED = 25;

/** The slowest records that were delivered in a frame. Frames cover what comes after their beginning, up to their end. */
export const slowestIn = (frame: Pick<Frame, "t_s">, frame_s: number): Selection => ({
  slowest: SLOWEST,
  between: { after_ns: ns(Math.max(0, frame.t_s - frame_s)), to_ns: ns(frame.t_s) },
});

const ns = (seconds: number) => Math.round(seconds * 1e9);

/** About so many records drawn from all. */
export function sampleOf(run: Run): Selection {
  const delivered = Number(run.summary?.records_out) || 0;
  return { sample: { rate: Number(Math.min(1, SAMPLED / Math.max(1, delivered)).toPrecision(3)) } };
}

export function inWords({ selection }: Pick<Question, "selection">): string {
  const { slowest, sample, records, between } = selection;
  const what = [
    ...(slowest ? [`${slowest} slowest`] : []),
    ...(sample ? [`sample of ${sample.rate < 0.005 ? `${Number((sample.rate * 1e6).toPrecision(2))} in a million` : percent(sample.rate)}`] : []),
    ...(records?.length ? [plural(records.length, "chosen record")] : []),
  ].join(", ");
  return between ? `${what}, up to ${(between.to_ns / 1e9).toFixed(2)} s` : what;
}

/** Sums by part, in the order in which a record meets them; parts that took no time are left out. */
export function partSums(waterfall: Waterfall): { part: string; ns: number }[] {
  const sums = new Map<string, number>();
  for (const { part, start_ns, end_ns } of waterfall.parts) sums.set(part, (sums.get(part) ?? 0) + end_ns - start_ns);
  const known = PATH_PARTS.map(({ id }) => id);
  return [...known.filter((id) => sums.has(id)), ...[...sums.keys()].filter((id) => !known.includes(id))].map((part) => ({
    part,
    ns: sums.get(part) ?? 0,
  }));
}

export interface WaterfallRow {
  key: number;
  part: string;
  /** Operator with the index of its instance. */
  where: string;
  start_ns: number;
  length_ns: number;
  /** Shares of the latency. */
  left: number;
  width: number;
}

/** The stretches of a path, from the measured clock on. */
export function rowsOf(waterfall: Waterfall): WaterfallRow[] {
  const begin_ns = Math.min(waterfall.end_ns - waterfall.latency_ns, ...waterfall.parts.map(({ start_ns }) => start_ns));
  const whole_ns = Math.max(1, waterfall.end_ns - begin_ns);
  return waterfall.parts.map(({ part, operator, instance, start_ns, end_ns }, key) => ({
    key,
    part,
    where: `${operator} ${instance}`,
    start_ns: start_ns - begin_ns,
    length_ns: end_ns - start_ns,
    left: (Math.min(start_ns, end_ns) - begin_ns) / whole_ns,
    width: Math.abs(end_ns - start_ns) / whole_ns,
  }));
}
