import { useEffect, useMemo, useRef, useState, type PointerEvent } from "react";
import { coordinateAt, placeOf, ticksOf, type Axis, type Colouring } from "../../model/run/points";
import { SERIES } from "../../ui/chart/Plot";
import { useTheme } from "../../ui/theme";
import { themeColour } from "../../ui/themeColour";

const SIDE = 84;
const TOP = 44;
const BOTTOM = 16;
const STRIP = 28;
/** A shorter drag is a click. */
const DRAG_MIN = 4;
const NEAR = 8;
/** So near the end of an axis a drag reaches the end. */
const SNAP = 6;
const LABELS_MAX = 14;
/** More lines are told apart by colour alone: their dashes run into one another. */
const DASHED_MAX = 500;
const LABEL_LETTERS = 14;
const TITLE_WIDTH = 148;
/** Of the accent, at the low end of a scale of colours; the legend's has the same. */
const LOW_SHARE = 0.3;

/** Where an axis stands, and a place on it, px. */
const scalesOf = (count: number, { width, height }: Size) => ({
  x: (at: number) => SIDE + (count > 1 ? (at / (count - 1)) * (width - 2 * SIDE) : (width - 2 * SIDE) / 2),
  y: (place: number) => TOP + (1 - place) * (height - TOP - BOTTOM),
});

interface Size {
  width: number;
  height: number;
}

/** Where an axis stands, as a CSS length. */
export const axisLeft = (at: number, count: number): string =>
  `calc(${SIDE}px + ${count > 1 ? at / (count - 1) : 0.5} * (100% - ${2 * SIDE}px))`;

/** As wide as a title may be without reaching the next axis, as a CSS length. */
export const axisWidth = (count: number): string =>
  count > 1 ? `min(${TITLE_WIDTH}px, calc((100% - ${2 * SIDE}px) / ${count - 1} - 4px))` : `${TITLE_WIDTH}px`;

/** A line for each run across parallel axes. Plotly's own kind needs WebGL and eval, which the pages do without. */
export function ParallelChart({
  axes,
  colouring,
  label,
  nameOf,
  onBrush,
  onOpen,
}: {
  axes: readonly Axis[];
  colouring: Colouring;
  /** What a screen reader says of it. */
  label: string;
  nameOf: (run: number) => string;
  /** A stretch of an axis, between two of its coordinates. */
  onBrush: (axis: Axis, from: number, to: number) => void;
  onOpen: (run: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = useTheme((state) => state.dark);
  const size = useSize(box);
  const [near, setNear] = useState<number | null>(null);
  const [drag, setDrag] = useState<{ at: number; from: number; to: number } | null>(null);
  /** By run, the places on the axes. */
  const places = useMemo(() => {
    const columns = axes.map((axis) => axis.cells.map((cell) => placeOf(axis, cell)));
    return (axes[0]?.cells ?? []).map((_, run) => columns.map((column) => column[run] ?? null));
  }, [axes]);
  const { x, y } = useMemo(() => scalesOf(axes.length, size), [axes.length, size]);
  const placeAt = (top: number) => {
    const length = size.height - TOP - BOTTOM;
    const place = 1 - (top - TOP) / length;
    return place > 1 - SNAP / length ? 1 : place < SNAP / length ? 0 : place;
  };

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || !size.width) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = size.width * ratio;
    element.height = size.height * ratio;
    context.scale(ratio, ratio);
    context.lineWidth = places.length > 1000 ? 0.75 : 1.25;
    context.globalAlpha = Math.min(0.8, Math.max(0.12, 60 / Math.sqrt(places.length * 40)));
    const colour = themeColour();
    const colours = SERIES.map(({ token }) => colour(token));
    const [high, none] = [colour("--accent"), colour("--line-control")];
    const low = mixed(colour("--bg-surface"), high, LOW_SHARE);
    places.forEach((of, run) => {
      const share = colouring.along && placeOf(colouring.along, colouring.along.cells[run] ?? null);
      const colourAt = (colouring.classOf[run] ?? 0) % SERIES.length;
      context.strokeStyle = share !== null ? mixed(low, high, share) : colouring.along ? none : (colours[colourAt] ?? "");
      if (!colouring.along && places.length <= DASHED_MAX) context.setLineDash(dashesOf(SERIES[colourAt]?.path ?? ""));
      context.beginPath();
      of.forEach((place, at) => {
        if (place === null) return;
        if (at === 0 || of[at - 1] === null) context.moveTo(x(at), y(place));
        else context.lineTo(x(at), y(place));
      });
      context.stroke();
    });
    element.dataset.drawn = "true";
  }, [places, colouring, size, x, y, dark]);

  const runAt = (event: PointerEvent): number | null => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const across = ((event.clientX - left - SIDE) / Math.max(1, size.width - 2 * SIDE)) * (axes.length - 1);
    const at = Math.floor(across);
    if (at < 0 || at + 1 >= axes.length) return null;
    let best: number | null = null;
    let least = NEAR;
    places.forEach((of, run) => {
      const [from, to] = [of[at], of[at + 1]];
      if (typeof from !== "number" || typeof to !== "number") return;
      const distance = Math.abs(y(from + (to - from) * (across - at)) - (event.clientY - top));
      if (distance < least) [best, least] = [run, distance];
    });
    return best;
  };

  const dragged = ({ clientY, currentTarget }: PointerEvent<SVGElement>) =>
    clientY - (currentTarget.ownerSVGElement?.getBoundingClientRect().top ?? 0);
  const path = near === null ? "" : lineOf(places[near] ?? [], x, y);
  return (
    <div ref={box} className="parallel">
      <canvas ref={canvas} role="img" aria-label={label} />
      <svg
        width={size.width}
        height={size.height}
        onPointerMove={(event) => !drag && setNear(runAt(event))}
        onPointerLeave={() => setNear(null)}
        onClick={() => near !== null && !drag && onOpen(near)}
        className={near === null ? "" : "near"}
        aria-hidden="true"
      >
        {near !== null && (
          <>
            <path d={path} className="near-line" />
            <title>{nameOf(near)}</title>
          </>
        )}
        {axes.map((axis, at) => (
          <g key={axis.field.name} transform={`translate(${x(at)} 0)`}>
            <line y1={TOP} y2={size.height - BOTTOM} className="axis-line" />
            <Ticks axis={axis} y={y} isLast={at === axes.length - 1 && at > 0} />
            {drag?.at === at && (
              <rect x={-7} width={14} y={y(Math.max(drag.from, drag.to))} height={Math.abs(y(drag.from) - y(drag.to))} className="brush" />
            )}
            <rect
              x={-STRIP / 2}
              width={STRIP}
              y={TOP - 4}
              height={Math.max(0, size.height - TOP - BOTTOM + 8)}
              className="strip"
              data-axis={axis.field.name}
              onPointerDown={(event) => {
                event.currentTarget.setPointerCapture(event.pointerId);
                const place = placeAt(dragged(event));
                setNear(null);
                setDrag({ at, from: place, to: place });
              }}
              onPointerMove={(event) => drag && setDrag({ ...drag, to: placeAt(dragged(event)) })}
              onPointerUp={(event) => {
                const [from, to] = [drag?.from ?? 0, placeAt(dragged(event))].sort((a, b) => a - b) as [number, number];
                if (drag && y(from) - y(to) >= DRAG_MIN) onBrush(axis, coordinateAt(axis, from), coordinateAt(axis, to));
                setDrag(null);
              }}
              onPointerCancel={() => setDrag(null)}
              onClick={(event) => event.stopPropagation()}
            />
          </g>
        ))}
      </svg>
    </div>
  );
}

/** Labels stand left of their axis, those of the last one right of it. */
function Ticks({ axis, y, isLast }: { axis: Axis; y: (place: number) => number; isLast: boolean }) {
  const ticks = ticksOf(axis);
  const every = Math.ceil(ticks.length / LABELS_MAX);
  return ticks
    .filter((_, at) => at % every === 0)
    .map(({ place, text }) => (
      <g key={`${place} ${text}`} transform={`translate(0 ${y(place)})`} className="axis-tick">
        <line x1={-4} x2={4} />
        <text x={isLast ? 8 : -8} dy="0.32em" textAnchor={isLast ? "start" : "end"}>
          {text.length > LABEL_LETTERS ? `${text.slice(0, LABEL_LETTERS - 1)}…` : text}
          <title>{text}</title>
        </text>
      </g>
    ));
}

function lineOf(places: readonly (number | null)[], x: (at: number) => number, y: (place: number) => number): string {
  return places
    .map((place, at) => (place === null ? "" : `${at === 0 || places[at - 1] === null ? "M" : "L"}${x(at)} ${y(place)}`))
    .join("");
}

/** A colour between two, as `rgb(r, g, b)`. */
function mixed(low: string, high: string, share: number): string {
  const [from, to] = [low, high].map((colour) => (colour.match(/[\d.]+/g) ?? []).map(Number));
  return `rgb(${[0, 1, 2].map((at) => Math.round((from?.[at] ?? 0) + ((to?.[at] ?? 0) - (from?.[at] ?? 0)) * share)).join(", ")})`;
}

function useSize(box: React.RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return size;
}

const dashesOf = (path: string): number[] => (path ? path.split(" ").map(Number) : []);
