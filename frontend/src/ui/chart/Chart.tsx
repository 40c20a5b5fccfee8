import { useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Line } from "../../model/run/charts";
import { drawnColumns, drawnLines, lone, valueAxis, type Column, type Span } from "../../model/run/series";
import { useTheme } from "../theme";
import { fillOf } from "./patterns";

/** Room for the labels of the y axis, and at the right; the same for every chart, so that all share one time axis. */
export const GUTTER_LEFT = 52;
export const GUTTER_RIGHT = 16;

/** The value of a colour token as the canvas needs it, with light-dark() resolved; softer where it fills an area. */
function colour(token: string, soft = false): string {
  const probe = document.createElement("i");
  probe.style.color = soft ? `color-mix(in srgb, var(${token}) 62%, var(--bg-surface))` : `var(${token})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

const faint = (rgb: string) => rgb.replace(/^rgb\((.*)\)$/, "rgba($1, 0.09)");

const TICK_PX_MIN = 18;

/** As many of the ticks as have room for their labels: every one, or every second, ... */
function spaced(ticks: number[], height_px: number): number[] {
  const stride = Math.max(1, Math.ceil((ticks.length * TICK_PX_MIN) / Math.max(height_px, 1)));
  return ticks.filter((_, at) => at % stride === 0);
}

/**
 * Lines over virtual time, or areas on top of one another. The axis starts at 0, or is logarithmic; null is a gap, undefined (a time that
 * only other lines have) is none.
 */
export function Chart({
  t_s,
  columns,
  lines,
  span,
  log = false,
  areas = false,
  stepped = false,
  top,
  format,
  onDrawn,
}: {
  t_s: number[];
  columns: Column[];
  lines: Line[];
  span: Span;
  log?: boolean;
  areas?: boolean;
  /** A value holds until the next one. */
  stepped?: boolean;
  /** Greatest value of the axis, where it is known. */
  top?: number;
  format: (value: number) => string;
  onDrawn?: (data: uPlot.AlignedData) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const dark = useTheme((state) => state.dark);
  const count = t_s.length;
  const overs = lines.filter(({ over }) => over).length;
  // The columns grow in place: their length says that there is something new, or their end, which moves where a value goes on to hold.
  const end_s = t_s[count - 1];
  const drawn = useMemo(() => (count ? drawnColumns(columns, log, areas, overs) : columns), [columns, count, areas, log, overs]);
  const axis = useMemo(
    () => valueAxis(t_s, count ? drawn : [], { from_s: span.from_s, to_s: span.to_s }, log, top),
    [t_s, count, drawn, log, span.from_s, span.to_s, top],
  );
  const latest = useRef({ axis, span, format });
  latest.current = { axis, span, format };
  const data = useRef<uPlot.AlignedData>([t_s]);
  data.current = [t_s, ...drawn] as uPlot.AlignedData;

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const text = colour("--text-3");
    const seam = colour("--bg-surface");
    const made = new uPlot(
      {
        width: Math.max(80, element.clientWidth),
        height: Math.max(40, element.clientHeight),
        padding: [8, GUTTER_RIGHT, 8, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: () => [latest.current.span.from_s, latest.current.span.to_s] },
          y: { distr: log ? 3 : 1, range: () => [latest.current.axis.low, latest.current.axis.high] },
        },
        axes: [
          { show: false },
          {
            size: GUTTER_LEFT,
            gap: 6,
            font: '11px "Inter", "Segoe UI", "Liberation Sans", Arial, sans-serif',
            stroke: text,
            ticks: { show: false },
            grid: { stroke: colour("--grid"), width: 1 },
            splits: (self) => spaced(latest.current.axis.ticks, self.bbox.height / devicePixelRatio),
            values: (_plot, values) => values.map((value) => latest.current.format(value)),
            filter: (_plot, splits) => splits,
          },
        ],
        series: [
          {},
          ...drawnLines(lines, areas).map((line): uPlot.Series => {
            const area = areas && !line.over;
            const stroke = colour(line.token, area);
            return {
              label: line.label,
              stroke: area ? seam : stroke,
              width: line.width,
              ...(stepped && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
              ...(line.dash ? { dash: line.dash } : {}),
              ...(line.filled ? { fill: faint(stroke) } : {}),
              ...(area ? { fill: areaFill(line, stroke, seam) } : {}),
              // A lone sample has no line; its point makes it visible. (The results of windows come in bursts.)
              points: {
                show: false,
                size: 5,
                fill: stroke,
                stroke,
                filter: (self, series) => {
                  const [from, to] = self.series[0]?.idxs ?? [0, -1];
                  return areas || stepped ? null : lone(self.data[series] ?? [], from, to);
                },
              },
            };
          }),
        ],
      },
      data.current,
      element,
    );
    plot.current = made;
    const resize = new ResizeObserver(() =>
      made.setSize({ width: Math.max(80, element.clientWidth), height: Math.max(40, element.clientHeight) }),
    );
    resize.observe(element);
    return () => {
      resize.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [log, dark, lines, areas, stepped]);

  useEffect(() => {
    plot.current?.setData(data.current);
    onDrawn?.(data.current);
  }, [count, end_s, lines, span.from_s, span.to_s, onDrawn]);

  return <div className="chart" ref={box} />;
}

/** Of an area that covers those drawn before it: what is seen through its pattern is the surface, not they. */
function areaFill(line: Line, stroke: string, surface: string): (self: uPlot) => CanvasPattern | string {
  let made: CanvasPattern | string | undefined;
  return (self) => (made ??= fillOf(self.ctx, line.pattern ?? "plain", stroke, devicePixelRatio, surface));
}
