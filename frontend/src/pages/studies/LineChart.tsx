import { useCallback, useMemo, type Ref } from "react";
import { short } from "../../lib/format";
import type { ChartedLine, Dimension, Spot } from "../../model/study/chart";
import { valueText } from "../../model/study/study";
import { keyOf } from "../../model/study/table";
import { axisOf, intervalBars, logTicks, Plot, SERIES, type Colours, type PlotHandle } from "../../ui/chart/Plot";

/** One metric over one dimension: a line for each choice of the others, with the interval over seeds as bars. */
export function LineChart({
  lines,
  labels,
  title,
  across,
  logX,
  logY,
  markersOnly,
  point,
  onPoint,
  handle,
}: {
  lines: ChartedLine[];
  /** The lines that are drawn, in the order of their colours. */
  labels: string[];
  title: string;
  across: Dimension;
  logX: boolean;
  logY: boolean;
  markersOnly: boolean;
  point: string;
  onPoint: (point: string) => void;
  handle: Ref<PlotHandle>;
}) {
  const drawn = useMemo(
    () => labels.flatMap((label, at) => lines.filter((line) => line.label === label).map((line) => ({ ...line, at }))),
    [labels, lines],
  );
  const draw = useCallback(
    (colour: Colours) => {
      const spots = drawn.flatMap((line) => line.spots);
      return {
      data: [
        ...drawn.map(({ label, spots, at }) => traceOf(colour, label, spots, at, { markersOnly, title, across: across.title })),
        ringOf(colour, spots.filter((spot) => keyOf(spot) === point)),
      ],
      layout: {
        xaxis: axisOf(colour, across.title, { ...scaleOf(spots, across, logX), ...ticksAt(spots) }),
        yaxis: axisOf(colour, "", logY ? logTicks(spots.map(({ y }) => y)) : { type: "linear", rangemode: "tozero" }),
      },
      };
    },
    [drawn, title, across, logX, logY, markersOnly, point],
  );
  return (
    <Plot
      label={`${title} over ${across.title}, ${drawn.length === 1 ? "one line" : `${drawn.length} lines`}`}
      draw={draw}
      revision={`${title} ${across.name} ${logX} ${logY}`}
      handle={handle}
      onPick={(curve, at) => {
        const spot = typeof at === "number" ? drawn[curve]?.spots[at] : undefined;
        if (spot) onPoint(keyOf(spot));
      }}
    />
  );
}

function scaleOf(spots: Spot[], { numeric }: Dimension, log: boolean) {
  if (log) return logTicks(spots.map(({ x }) => Number(x)));
  return { type: numeric ? "linear" : "category" };
}

/** So many values have a tick each; more share round ones. */
const TICKS_MAX = 10;

function ticksAt(spots: Spot[]) {
  const values = [...new Set(spots.map(({ x }) => x))];
  if (values.length > TICKS_MAX || values.some((value) => typeof value !== "number")) return {};
  return { tickmode: "array", tickvals: values, ticktext: values.map(valueText) };
}

function traceOf(
  colour: Colours,
  label: string,
  spots: Spot[],
  at: number,
  { markersOnly, title, across }: { markersOnly: boolean; title: string; across: string },
) {
  const { token, dash, symbol } = SERIES[at % SERIES.length] as (typeof SERIES)[number];
  const own = colour(token);
  const bars = spots.some(({ low, high }) => low !== null && high !== null && high > low);
  return {
    type: "scatter",
    mode: markersOnly ? "markers" : "lines+markers",
    name: label,
    x: spots.map(({ x }) => (typeof x === "number" ? x : valueText(x))),
    y: spots.map(({ y }) => y),
    line: { color: own, width: 2, dash },
    marker: { color: own, size: 8, symbol, line: { color: own, width: symbol.endsWith("open") ? 2 : 0 } },
    ...(bars ? { error_y: intervalBars(spots, own) } : {}),
    text: spots.map((spot) => spotText(spot, label, title, across)),
    hovertemplate: "%{text}<extra></extra>",
  };
}

function spotText({ x, y, low, high, count }: Spot, label: string, title: string, across: string): string {
  const range = low !== null && high !== null ? ` (${short(low)} to ${short(high)}, ${count} seeds)` : "";
  return [label, `${across}: ${valueText(x)}`, `${title}: <b>${short(y)}</b>${range}`].filter(Boolean).map(asText).join("<br>");
}

/** Names come from documents; of the little markup that the chart knows only ours is left. */
const asText = (line: string) => line.replace(/<(?!\/?b>)/g, "&lt;");

/** The point whose runs stand beside the chart. */
const ringOf = (colour: Colours, spots: Spot[]) => ({
  type: "scatter",
  mode: "markers",
  x: spots.map(({ x }) => (typeof x === "number" ? x : valueText(x))),
  y: spots.map(({ y }) => y),
  marker: { size: 17, symbol: "circle-open", color: colour("--accent"), line: { width: 2, color: colour("--accent") } },
  hoverinfo: "skip",
});
