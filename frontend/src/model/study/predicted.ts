/** What models predicted of the points of a study, beside what was measured there. */
import type { Goal, StudyDetail, StudyResults } from "../../api/types";
import { rangeText, costText, GOALS } from "../document/advice";

/** The metric of a run that each cost is predicted of. */
export const MEASURED: Record<Goal, string> = {
  processing_latency: "latency_ms.mean",
  end_to_end_latency: "latencies_ms.end_to_end.mean",
  throughput: "throughput_out_per_s",
};

export interface PredictedRow {
  point: number;
  label: string;
  predicted: string;
  range: string;
  /** Empty until there is a run. */
  measured: string;
  /** How many times as large one is as the other, at least 1; null while there is nothing to compare. */
  off: number | null;
}

export interface PredictedCost {
  goal: Goal;
  title: string;
  rows: PredictedRow[];
  /** Of the rows that can be compared. */
  median: number | null;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Both count as the least value where they are below it, as in training. */
const LEAST: Record<Goal, number> = { processing_latency: 0.1, end_to_end_latency: 0.1, throughput: 1 / 240 };

function offBy(goal: Goal, predicted: number, measured: number): number {
  const [one, other] = [Math.max(predicted, LEAST[goal]), Math.max(measured, LEAST[goal])];
  return Math.max(one / other, other / one);
}

/** labelOf: the name of a point. */
export function predictedCosts(
  predictions: NonNullable<StudyDetail["predictions"]>,
  results: StudyResults,
  labelOf: (values: StudyResults["points"][number]["values"]) => string,
): PredictedCost[] {
  return GOALS.flatMap(({ id, title }) => {
    const rows = results.points.flatMap(({ point, values, over_seeds, runs }): PredictedRow[] => {
      const members = predictions.points[point]?.[id];
      if (!members?.length) return [];
      const predicted = mean(members);
      const found = over_seeds[MEASURED[id]];
      const ended = runs.length > 0 && runs.every(({ failure, state }) => failure !== null || state === "succeeded");
      return [
        {
          point,
          label: labelOf(values),
          predicted: costText(id, predicted),
          range: rangeText(id, members),
          measured: found ? costText(id, found.mean) : ended ? "nothing arrived" : "",
          off: found ? offBy(id, predicted, found.mean) : null,
        },
      ];
    });
    if (!rows.length) return [];
    const known = rows.flatMap(({ off }) => (off === null ? [] : [off])).sort((one, other) => one - other);
    return [{ goal: id, title, rows, median: medianOf(known) }];
  });
}

function medianOf(sorted: readonly number[]): number | null {
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1], sorted[middle]];
  if (high === undefined) return null;
  return sorted.length % 2 || low === undefined ? high : (low + high) / 2;
}
