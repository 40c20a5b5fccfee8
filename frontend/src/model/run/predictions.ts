/** How fast a query should be on Spark, and how fast it was. */
import type { CalibrationJob, SparkLatency, SparkPrediction } from "../../api/types";

/** "4 % more than measured", or that it is the same within half a percent. */
export function offBy(predicted: number, measured: number): string {
  const off = Math.round((predicted / measured - 1) * 100);
  if (off === 0) return "as measured";
  return `${Math.abs(off)} % ${off > 0 ? "more" : "less"} than measured`;
}

/** A prediction counts as near up to this difference. */
export const NEAR = 0.25;

export const isNear = (predicted: number, measured: number): boolean => Math.abs(predicted / measured - 1) <= NEAR;

/** The measures of a prediction, in the order in which they are shown; measured: null until Spark has executed the query. Paced input says
 * how many records come. */
export function measuresOf({ predicted, measured }: SparkPrediction, paced = false) {
  if (!predicted) return [];
  const all = [
    { name: "Throughput", unit: "records/s", predicted: predicted.records_per_s, measured: measured?.records_per_s ?? null, about: "Records over the time in micro-batches" },
    { name: "Micro-batch", unit: "ms", predicted: predicted.batch_ms, measured: measured?.batch_ms ?? null, about: "Median duration" },
  ];
  return all.filter(({ unit }) => !paced || unit === "ms");
}

const QUANTILES = [
  { name: "Median", of: ({ p50_ms }: SparkLatency) => p50_ms },
  { name: "p95", of: ({ p95_ms }: SparkLatency) => p95_ms },
  { name: "p99", of: ({ p99_ms }: SparkLatency) => p99_ms },
];

/** Null: not predicted, not measured yet, or no result that counts. */
export const latenciesOf = (predicted: SparkLatency | null, measured: SparkLatency | null) =>
  QUANTILES.map(({ name, of }) => ({ name, predicted_ms: predicted && of(predicted), measured_ms: measured && of(measured) }));

/** What a calibration does now, as a sentence. */
export function calibrationStage({ state, doing }: Pick<CalibrationJob, "state" | "doing">): string {
  if (state === "queued") return "Waiting for the analysis worker";
  if (!doing) return "Starting";
  return /^(warming|starting|looking)/.test(doing) ? doing.replace(/^./, (first) => first.toUpperCase()) : `Measuring: ${doing}`;
}
