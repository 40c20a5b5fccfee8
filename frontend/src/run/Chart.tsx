import { useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "../app/ThemeSwitch";
import { extent, linearTop, logAxis, type Column } from "../model/series";

/** Room for the labels of the y axis, and at the right; the same for every chart, so that all share one time axis. */
export const GUTTER_LEFT = 52;
export const GUTTER_RIGHT = 16;

export interface Line {
  label: string;
  /** Name of a colour token, e.g. --p99. */
  token: string;
  width: number;
  dash?: number[];
  /** Paint the area below the line faintly. */
  filled?: boolean;
}

/** The value of a colour token as the canvas needs it, with light-dark() resolved. */
function colour(token: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${token})`;
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

/** Lines over virtual time. The axis starts at 0, or is logarithmic; a missing value is a gap. */
export function Chart({
  t_s,
  columns,
  lines,
  end_s,
  log,
  format,
  onDrawn,
}: {
  t_s: number[];
  columns: Column[];
  lines: Line[];
  end_s: number;
  log: boolean;
  format: (value: number) => string;
  onDrawn?: (points: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const dark = useTheme((state) => state.dark);
  const data = useMemo(
    () =>
      [
        t_s,
        ...columns.map((column) => (log ? column.map((value) => (value !== null && value > 0 ? value : null)) : column)),
      ] as uPlot.AlignedData,
    [t_s, columns, log],
  );
  const axis = useMemo(() => {
    const range = extent(columns, log);
    if (log && range) return logAxis(range);
    const { top, step } = linearTop(range?.high ?? 0);
    return { low: 0, high: top, ticks: Array.from({ length: Math.round(top / step) + 1 }, (_, at) => at * step) };
  }, [columns, log]);
  const latest = useRef({ axis, end_s, format, data });
  latest.current = { axis, end_s, format, data };

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const text = colour("--text-3");
    const made = new uPlot(
      {
        width: Math.max(80, element.clientWidth),
        height: Math.max(40, element.clientHeight),
        padding: [8, GUTTER_RIGHT, 8, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: () => [0, latest.current.end_s] },
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
          ...lines.map((line): uPlot.Series => {
            const stroke = colour(line.token);
            return {
              label: line.label,
              stroke,
              width: line.width,
              ...(line.dash ? { dash: line.dash } : {}),
              ...(line.filled ? { fill: faint(stroke) } : {}),
              // A lone sample has no line; its point makes it visible.
              points: { show: (self) => self.data[0].length < 4, size: 5, fill: stroke },
            };
          }),
        ],
      },
      latest.current.data,
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
  }, [log, dark, lines]);

  useEffect(() => {
    plot.current?.setData(data);
    onDrawn?.(t_s.length);
  }, [data, axis, end_s, t_s, onDrawn]);

  return <div className="chart" ref={box} />;
}
