import { useCallback, useMemo, type Ref } from "react";
import type { TriedPoint } from "../../api/types";
import { short } from "../../lib/format";
import { bestSoFar, historyOf, type Outcome } from "../../model/study/optimum";
import type { Objective } from "../../model/study/study";
import { axisOf, logTicks, Plot, type Colours, type PlotHandle } from "../../ui/chart/Plot";

/** What became of a trial: a word, and a mark that can be told without its colour. */
export const OUTCOMES: { outcome: Outcome; token: string; symbol: string; words: string }[] = [
  { outcome: "counts", token: "--s1", symbol: "circle", words: "counts" },
  { outcome: "breaks a bound", token: "--text-3", symbol: "circle-open", words: "breaks a bound" },
  { outcome: "no value", token: "--err", symbol: "x-thin-open", words: "not complete" },
];

/** An objective trial by trial, and the best so far as a staircase. */
export function HistoryChart({
  trials,
  objective,
  at,
  title,
  logY,
  best,
  point,
  onPoint,
  handle,
}: {
  trials: readonly TriedPoint[];
  objective: Objective;
  /** Which of the objectives it is. */
  at: number;
  title: string;
  logY: boolean;
  best: readonly number[];
  point: string;
  onPoint: (point: string) => void;
  handle: Ref<PlotHandle>;
}) {
  const spots = useMemo(() => historyOf(trials, at), [trials, at]);
  const groups = useMemo(() => OUTCOMES.map(({ outcome }) => spots.filter((spot) => spot.outcome === outcome)), [spots]);
  const draw = useCallback(
    (colour: Colours) => {
      const steps = bestSoFar(spots, objective);
      const ring = (chosen: typeof spots, token: string, size: number) => ({
        type: "scatter",
        mode: "markers",
        x: chosen.map(({ trial }) => trial),
        y: chosen.map(({ y }) => y),
        marker: { size, symbol: "circle-open", color: colour(token), line: { width: 2, color: colour(token) } },
        hoverinfo: "skip",
      });
      return {
        data: [
          ...OUTCOMES.map(({ token, symbol, words }, group) => ({
            type: "scatter",
            mode: "markers",
            name: words,
            x: groups[group]?.map(({ trial }) => trial),
            y: groups[group]?.map(({ y }) => y),
            marker: { color: colour(token), size: 8, symbol, line: { color: colour(token), width: symbol === "circle" ? 0 : 2 } },
            text: groups[group]?.map(({ trial, y }) => `trial ${trial}: <b>${short(y)}</b>, ${words}`),
            hovertemplate: "%{text}<extra></extra>",
          })),
          {
            type: "scatter",
            mode: "lines",
            x: steps.map(({ trial }) => trial),
            y: steps.map(({ y }) => y),
            line: { color: colour("--s2"), width: 2, shape: "hv" },
            hoverinfo: "skip",
          },
          ring(spots.filter((spot) => best.includes(spot.point)), "--ok", 15),
          ring(spots.filter((spot) => String(spot.point) === point), "--accent", 19),
        ],
        layout: {
          xaxis: axisOf(colour, "trial", { rangemode: "tozero" }),
          yaxis: axisOf(colour, "", logY ? logTicks(spots.map(({ y }) => y)) : { type: "linear" }),
        },
      };
    },
    [spots, groups, objective, logY, best, point],
  );
  return (
    <Plot
      label={`${title} of ${spots.length} trials, and the best so far`}
      draw={draw}
      revision={`history ${at} ${logY}`}
      handle={handle}
      onPick={(curve, index) => {
        const spot = typeof index === "number" ? groups[curve]?.[index] : undefined;
        if (spot) onPoint(String(spot.point));
      }}
    />
  );
}
