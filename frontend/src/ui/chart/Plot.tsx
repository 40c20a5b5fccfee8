import type { PlotlyElement, PlotlyObject, PlotlySelection } from "plotly.js-cartesian-dist-min";
import { useEffect, useRef, useState, type Ref, useImperativeHandle } from "react";
import { Loading } from "../states";
import { useTheme } from "../theme";
import "./plot.css";

/** A token's colour as Plotly reads it, with light-dark() resolved. */
export type Colours = (token: string) => string;

export interface PlotHandle {
  /** The chart as it is drawn, as SVG; null before it is. */
  svg: () => Promise<{ svg: string; width: number; height: number } | null>;
}

/** Which curve and which of its points; of a heat map the row and the column. */
export type Picked = (curve: number, point: number | [row: number, column: number]) => void;

/** What was drawn around points: with a box its ends, in the coordinates of the axes. */
export interface Brushed {
  box: { x: [number, number]; y: [number, number] } | null;
  points: { curve: number; point: number }[];
}

const CONFIG = { displayModeBar: false, displaylogo: false, scrollZoom: false, doubleClick: "reset", showTips: false };
const AXIS_LINES_MAX = 5;

/** The library is as large as the rest of the page: it comes when a chart is drawn first. */
let loaded: typeof import("plotly.js-cartesian-dist-min").default | null = null;
const library = async () => (loaded ??= (await import("plotly.js-cartesian-dist-min")).default);

/**
 * A chart by Plotly with the colours and letters of the theme. `draw` gives the traces and what the layout has beyond the usual; it is
 * called again when the theme changes. Zoom stays while `revision` stays. Whoever shows it puts a table beside it.
 */
export function Plot({
  label,
  draw,
  revision,
  onPick,
  onBrush,
  handle,
}: {
  /** What a screen reader says of it. */
  label: string;
  draw: (colour: Colours) => { data: PlotlyObject[]; layout?: PlotlyObject };
  revision: string;
  onPick?: Picked;
  /** Somebody drew a box or a lasso; the layout's `dragmode` says which. What was drawn is gone with the next revision. */
  onBrush?: (brushed: Brushed) => void;
  handle?: Ref<PlotHandle>;
}) {
  const box = useRef<HTMLDivElement>(null);
  const pick = useRef(onPick);
  const brush = useRef(onBrush);
  const dark = useTheme((state) => state.dark);
  const [state, setState] = useState<"loading" | "drawn" | "failed">("loading");
  useEffect(() => {
    pick.current = onPick;
    brush.current = onBrush;
  }, [onPick, onBrush]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let gone = false;
    const { data, layout = {} } = draw(colour);
    library()
      .then(async (plotly) => {
        if (gone) return;
        const kept = { uirevision: revision, selectionrevision: revision };
        const drawn = await plotly.react(element, data, { ...themed(colour), ...layout, ...kept }, CONFIG);
        listen(drawn, (...picked) => pick.current?.(...picked), (brushed) => brush.current?.(brushed));
        if (!gone) setState("drawn");
      })
      .catch(() => !gone && setState("failed"));
    return () => {
      gone = true;
    };
  }, [draw, dark, revision]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      // What is not on show, or not drawn yet, has no size to follow.
      if (element.clientWidth && element.clientHeight && element.classList.contains("js-plotly-plot"))
        loaded?.Plots.resize(element).catch(() => undefined);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      loaded?.purge(element);
    };
  }, []);
  useImperativeHandle(handle, () => ({
    svg: async () => {
      const element = box.current;
      if (!element?.classList.contains("js-plotly-plot")) return null;
      const { width, height } = element.getBoundingClientRect();
      const plotly = await library();
      const address = await plotly.toImage(element, { format: "svg", width, height });
      return { svg: decodeURIComponent(address.replace(/^data:image\/svg\+xml,/, "")), width, height };
    },
  }));
  return (
    <div className="plotly-box" data-testid="plot" data-drawn={state === "drawn"}>
      <div ref={box} className="plotly-chart" role="img" aria-label={label} />
      {state === "loading" && <Loading lines={3} />}
      {state === "failed" && <p className="mut small">The chart could not be drawn. The table has its numbers.</p>}
    </div>
  );
}

function listen(element: PlotlyElement, onPick: Picked, onBrush: (brushed: Brushed) => void): void {
  element.removeAllListeners("plotly_click");
  element.on("plotly_click", ({ points }) => {
    const [first] = points;
    if (first) onPick(first.curveNumber, first.pointNumber);
  });
  element.removeAllListeners("plotly_selected");
  element.on("plotly_selected", (selection) => {
    if (selection?.range ?? selection?.lassoPoints) onBrush(brushedBy(selection));
  });
}

const brushedBy = ({ points, range }: PlotlySelection): Brushed => ({
  box: range ?? null,
  points: points.flatMap(({ curveNumber, pointNumber }) => (typeof pointNumber === "number" ? [{ curve: curveNumber, point: pointNumber }] : [])),
});

function colour(token: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** What all charts have alike; an axis is drawn with `axisOf`. */
function themed(of: Colours): PlotlyObject {
  const font = { family: getComputedStyle(document.body).fontFamily, size: 11, color: of("--text-3") };
  return {
    font,
    paper_bgcolor: of("--bg-surface"),
    plot_bgcolor: of("--bg-surface"),
    margin: { l: 56, r: 16, t: 8, b: 40 },
    separators: ".,",
    showlegend: false,
    hovermode: "closest",
    dragmode: "zoom",
    hoverlabel: { bgcolor: of("--bg-raised"), bordercolor: of("--line-control"), font: { ...font, color: of("--text"), size: 12 } },
  };
}

interface Spot {
  y: number;
  low: number | null;
  high: number | null;
}

/** The interval of each point as a bar from `low` to `high`, with caps or without; none where there is no interval. */
export const intervalBars = (spots: Spot[], colour: string, capped = true): PlotlyObject => ({
  type: "data",
  symmetric: false,
  array: spots.map(({ y, high }) => (high ?? y) - y),
  arrayminus: spots.map(({ y, low }) => y - (low ?? y)),
  color: colour,
  thickness: 1.5,
  width: capped ? 4 : 0,
});

export const axisOf = (of: Colours, title: string, more: PlotlyObject = {}): PlotlyObject => ({
  title: { text: title, font: { size: 11, color: of("--text-3") }, standoff: 6 },
  gridcolor: of("--grid"),
  linecolor: of("--line"),
  zeroline: false,
  nticks: AXIS_LINES_MAX + 1,
  tickcolor: of("--line"),
  automargin: true,
  separatethousands: true,
  ...more,
});

/** Ticks of a logarithmic axis: every power of ten, and 2 and 5 between them where there is room. */
export function logTicks(numbers: readonly number[]): PlotlyObject {
  const decades = numbers.length ? Math.log10(Math.max(...numbers) / Math.min(...numbers)) : 1;
  return { type: "log", dtick: decades > 2 ? Math.ceil(decades / AXIS_LINES_MAX) : "D2", exponentformat: "none", minexponent: 9 };
}

/** The categorical series in their fixed order: colour, dash and marker each. */
export const SERIES = [
  { token: "--s1", dash: "solid", symbol: "circle", path: "" },
  { token: "--s2", dash: "8px,4px", symbol: "square", path: "8 4" },
  { token: "--s3", dash: "8px,3px,2px,3px", symbol: "triangle-up", path: "8 3 2 3" },
  { token: "--s4", dash: "2px,3px", symbol: "diamond", path: "2 3" },
  { token: "--s5", dash: "5px,3px", symbol: "line-ew-open", path: "5 3" },
  { token: "--s6", dash: "solid", symbol: "x-thin-open", path: "" },
] as const;

/** A line of a legend. */
export function SeriesSample({ at, markersOnly = false }: { at: number; markersOnly?: boolean }) {
  const { token, path, symbol } = SERIES[at % SERIES.length] as (typeof SERIES)[number];
  const style = { stroke: `var(${token})`, fill: `var(${token})` };
  return (
    <svg width="26" height="10" aria-hidden="true">
      {!markersOnly && <path d="M0 5H26" style={{ ...style, strokeWidth: 2, strokeDasharray: path, fill: "none" }} />}
      {symbol === "circle" && <circle cx="13" cy="5" r="3.5" style={style} />}
      {symbol === "square" && <rect x="10" y="2" width="6" height="6" style={style} />}
      {symbol === "triangle-up" && <path d="M13 1l4 7h-8z" style={style} />}
      {symbol === "diamond" && <path d="M13 .5L17 5l-4 4.5L9 5z" style={style} />}
      {symbol === "line-ew-open" && <path d="M8 5h10" style={{ ...style, strokeWidth: 3 }} />}
      {symbol === "x-thin-open" && <path d="M10 2l6 6M16 2l-6 6" style={{ ...style, strokeWidth: 1.5 }} />}
    </svg>
  );
}
