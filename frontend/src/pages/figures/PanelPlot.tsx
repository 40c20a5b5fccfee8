import { useCallback, type Ref } from "react";
import { short } from "../../lib/format";
import { axisText, spotValue, type Curve, type DrawnPanel, type PointAt, type Spot } from "../../model/figure/figure";
import { axisOf, intervalBars, logTicks, Plot, SERIES, type Colours, type PlotHandle } from "../../ui/chart/Plot";

/** Where the paper's numbers stand, and where the measured ones: over the same y axis, side by side. */
const REPORTED_HALF = [0, 0.485];
const MEASURED_HALF = [0.515, 1];
/** Longer lines have no markers, and their intervals are bands. */
const MARKERS_MAX = 40;

/** One panel of a figure: reported and measured in one chart, with intervals over seeds where there are any. */
export function PanelPlot({
  panel,
  chosen,
  onPoint,
  handle,
}: {
  panel: DrawnPanel;
  /** The point whose runs stand beside the chart. */
  chosen: Omit<PointAt, "panel"> | null;
  onPoint: (curve: number, spot: number) => void;
  handle: Ref<PlotHandle>;
}) {
  const { curves, names, title } = panel;
  const { curve, spot } = chosen ?? { curve: NaN, spot: NaN };
  const draw = useCallback((colour: Colours) => drawn(panel, curve, spot, colour), [panel, curve, spot]);
  return (
    <Plot
      label={`${title}: ${names.join(", ")}${curves.some(({ reported }) => reported) ? ", as reported and as measured" : ""}`}
      draw={draw}
      revision={title}
      handle={handle}
      onPick={(curve, spot) => {
        if (typeof spot === "number" && curves[curve] && !curves[curve].reported) onPoint(curve, spot);
      }}
    />
  );
}

function drawn(panel: DrawnPanel, chosen: number, place: number, colour: Colours) {
  const { curves, x, y, marks } = panel;
  const paired = curves.some(({ reported }) => reported);
  const named = curves.some(({ spots }) => spots.some((spot) => typeof spot.x === "string"));
  const crowded = haveBarsAtOnePlace(curves);
  const across = (reported: boolean) => (paired && !reported ? "x2" : "x");
  const ys = curves.flatMap(({ spots }) => spots.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]));
  const tone = (curve: Curve) => colour(SERIES[curve.at % SERIES.length]?.token ?? "--s1");
  const halves = paired ? [across(true), across(false)] : ["x"];
  const xs = curves.flatMap(({ spots }) => spots.flatMap(({ x }) => (typeof x === "number" && x > 0 ? [x] : [])));
  const inDecades = x.log && !named;
  const numbers = inDecades ? logTicks(xs) : { type: "linear" };
  const scaled = (domain: number[]) => axisOf(colour, axisText(x), { ...(named ? { type: "category", categoryarray: panel.names } : numbers), domain });
  const picked = curves[chosen];
  const spot = picked?.spots[place];
  return {
    data: [
      ...curves.map((curve) => ({ ...traceOf(curve, tone(curve), panel, colour), xaxis: across(curve.reported) })),
      ...curves.filter(hasBand).map((curve) => ({ ...bandOf(curve, tone(curve)), xaxis: across(curve.reported) })),
      ...(spot && picked?.mark !== "bars"
        ? [
            {
              type: "scatter",
              mode: "markers",
              x: [spot.x],
              y: [spot.y],
              xaxis: across(false),
              marker: { size: 16, symbol: "circle-open", color: colour("--accent"), line: { width: 2, color: colour("--accent") } },
              hoverinfo: "skip",
            },
          ]
        : []),
    ],
    layout: {
      margin: { l: 44, r: 12, t: paired || marks.length ? 18 : 8, b: 34 },
      barmode: named && !crowded ? "overlay" : "group",
      bargap: crowded ? 0.2 : 0.5,
      xaxis: scaled(paired ? REPORTED_HALF : [0, 1]),
      ...(paired ? { xaxis2: { ...scaled(MEASURED_HALF), ...(named ? {} : { matches: "x" }) } } : {}),
      yaxis: axisOf(colour, "", y.log ? logTicks(ys.filter((one) => one > 0)) : { type: "linear", rangemode: "tozero" }),
      shapes: [
        ...(paired ? [{ type: "rect", xref: "paper", yref: "paper", x0: 0, x1: REPORTED_HALF[1], y0: 0, y1: 1, fillcolor: colour("--bg-sunken"), line: { width: 0 }, layer: "below" }] : []),
        ...halves.flatMap((xref) =>
          marks.map(({ x }) => ({ type: "line", xref, yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line: { color: colour("--line-control"), width: 1, dash: "4px,3px" } })),
        ),
      ],
      annotations: [
        ...(paired ? [heading("<i>Reported</i>", 0, colour("--text-3")), heading("<b>Measured</b>", MEASURED_HALF[0] ?? 0, colour("--text"))] : []),
        ...halves.slice(-1).flatMap((xref) =>
          marks.map(({ x, name }) => ({ text: asText(name), xref, yref: "paper", x: inDecades ? Math.log10(x) : x, y: 1, yanchor: "bottom", showarrow: false, font: { size: 11, color: colour("--text-3") } })),
        ),
      ],
    },
  };
}

/** Whether bars stand at one place of one axis: those of several names for each query, say. */
const haveBarsAtOnePlace = (curves: readonly Curve[]) =>
  [true, false].some((reported) => {
    const places = curves.filter((curve) => curve.mark === "bars" && curve.reported === reported).flatMap(({ spots }) => spots.map(({ x }) => x));
    return new Set(places).size < places.length;
  });

const heading = (text: string, x: number, color: string) => ({
  text,
  xref: "paper",
  yref: "paper",
  x,
  y: 1,
  xanchor: "left",
  yanchor: "bottom",
  showarrow: false,
  font: { size: 11, color },
});

/** Colours before the first one comes again; bars have no dashes or symbols to differ by. */
const TONES = new Set(SERIES.map(({ token }) => token)).size;

const SHAPES: Partial<Record<Curve["mark"], string>> = { steps: "hv", steps_before: "vh" };

const hasInterval = ({ low, high }: Spot) => low !== null && high !== null && high > low;
const hasBand = ({ spots }: Curve) => spots.length > MARKERS_MAX && spots.some(hasInterval);

function traceOf(curve: Curve, own: string, panel: DrawnPanel, colour: Colours) {
  const { spots, name, reported, mark, at } = curve;
  const { dash, symbol } = SERIES[at % SERIES.length] as (typeof SERIES)[number];
  const open = symbol.endsWith("open");
  const common = {
    name,
    x: spots.map(({ x }) => x),
    y: spots.map(({ y }) => y),
    text: spots.map((spot) => spotText(spot, curve, panel)),
    hovertemplate: "%{text}<extra></extra>",
    ...(spots.length <= MARKERS_MAX && spots.some(hasInterval) ? { error_y: intervalBars(spots, own) } : {}),
  };
  if (mark === "bars")
    return {
      ...common,
      type: "bar",
      textposition: "none",
      marker: reported
        ? { color: colour("--bg-sunken"), line: { color: own, width: 1.5 }, pattern: { shape: "/", fgcolor: own, bgcolor: colour("--bg-sunken"), size: 6, solidity: 0.2 } }
        : { color: own, line: { color: own, width: 1.5 }, ...(at < TONES ? {} : { pattern: { shape: "/", fgcolor: colour("--bg-sunken"), bgcolor: own, size: 5, solidity: 0.3 } }) },
    };
  const many = spots.length > MARKERS_MAX;
  return {
    ...common,
    type: "scatter",
    mode: mark === "points" ? "markers" : many ? "lines" : "lines+markers",
    line: { color: own, width: reported ? 1.5 : 2, dash: reported ? "3px,3px" : dash, shape: SHAPES[mark] ?? "linear" },
    marker: {
      color: own,
      size: many ? 4 : 8,
      symbol: reported && !open ? `${symbol}-open` : symbol,
      line: { color: own, width: reported || open ? 1.5 : 0 },
    },
  };
}

const bandOf = ({ spots }: Curve, own: string) => {
  const there = spots.filter(hasInterval);
  return {
    type: "scatter",
    mode: "none",
    x: [...there, ...there.toReversed()].map(({ x }) => x),
    y: [...there.map(({ high }) => high), ...there.toReversed().map(({ low }) => low)],
    fill: "toself",
    fillcolor: own,
    opacity: 0.18,
    hoverinfo: "skip",
  };
};

function spotText(spot: Spot, { name, reported }: Curve, panel: DrawnPanel): string {
  const { x, low, high } = spot;
  const range = low !== null && high !== null && high > low ? ` (${short(low)} to ${short(high)})` : "";
  const place = typeof x === "number" ? `${axisText(panel.x) || "x"}: ${short(x)}` : "";
  const said = `${panel.y.title || "value"}: <b>${spotValue(spot)}</b> ${panel.y.unit}${range}`;
  return [`${name}, ${reported ? "reported" : "measured"}`, place, said].filter(Boolean).map(asText).join("<br>");
}

/** Names come from documents; of the little markup that the chart knows only ours is left. */
const asText = (line: string) => line.replace(/<(?!\/?b>)/g, "&lt;");
