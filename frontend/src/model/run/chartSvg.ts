/** A chart over virtual time as a picture of its own: SVG with the colours of the theme on show. */
import { short } from "../../lib/format";
import type { Line } from "./charts";
import { drawnColumns, drawnLines, firstFrom, timeTicks, valueAxis, type Column, type Span } from "./series";

export interface Picture {
  svg: string;
  width: number;
  height: number;
}

export interface ChartDrawn {
  title: string;
  note: string;
  t_s: number[];
  columns: Column[];
  lines: Line[];
  span: Span;
  log: boolean;
  areas: boolean;
  /** A value holds until the next one. */
  stepped?: boolean;
  /** Greatest value of the axis, where it is known. */
  top?: number | undefined;
  format: (value: number) => string;
}

const WIDTH = 760;
const HEIGHT = 320;
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 20, 52, 40];
const LETTER_PX = 6.2;
const FONT = "Inter, 'Segoe UI', 'Liberation Sans', Helvetica, Arial, sans-serif";

const escaped = (text: string) => text.replace(/\p{Cc}/gu, " ").replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const px = (value: number) => value.toFixed(1);

/** colour: what a token of the theme is now. */
export function chartSvg(chart: ChartDrawn, colour: (token: string) => string): Picture {
  const { t_s, span, log, areas, format } = chart;
  const stacked = drawnColumns(chart.columns, log, areas, chart.lines.filter(({ over }) => over).length);
  const drawn = chart.stepped ? stacked.map(held) : stacked;
  const lines = drawnLines(chart.lines, areas);
  const axis = valueAxis(t_s, t_s.length ? drawn : [], span, log, chart.top);
  const x = (time: number) => LEFT + ((time - span.from_s) / (span.to_s - span.from_s)) * (WIDTH - LEFT - RIGHT);
  const share = log && axis.low > 0
    ? (value: number) => Math.log(value / axis.low) / Math.log(axis.high / axis.low)
    : (value: number) => (value - axis.low) / (axis.high - axis.low);
  const y = (value: number) => HEIGHT - BOTTOM - share(value) * (HEIGHT - TOP - BOTTOM);
  const text = (left: number, top: number, said: string, more = "") =>
    `<text x="${px(left)}" y="${px(top)}" font-size="11" fill="${colour("--text-3")}" ${more}>${escaped(said)}</text>`;
  const [first, end] = [Math.max(0, firstFrom(t_s, span.from_s) - 1), firstFrom(t_s, span.to_s) + 1];
  const cut = drawn.map((column) => column.slice(first, end));
  const cutTimes = t_s.slice(first, end);
  const { times, columns: shown } = chart.stepped ? withCorners(cutTimes, cut) : { times: cutTimes, columns: cut };
  const grid = axis.ticks.map(
    (tick) =>
      `<path d="M${LEFT} ${px(y(tick))}H${WIDTH - RIGHT}" stroke="${colour("--grid")}"/>` +
      text(LEFT - 6, y(tick) + 4, format(tick), 'text-anchor="end"'),
  );
  const moments = timeTicks(span.to_s, 8, span.from_s).map((tick) => text(x(tick), HEIGHT - BOTTOM + 16, short(tick), 'text-anchor="middle"'));
  const curves = lines.map((line, at) => {
    const column = shown[at] ?? [];
    const own = colour(line.token);
    if (!areas || line.over) {
      const dash = line.dash ? ` stroke-dasharray="${line.dash.join(" ")}"` : "";
      return `<path d="${pathOf(times, column, x, y)}" fill="none" stroke="${own}" stroke-width="${line.width}" stroke-linejoin="round"${dash}/>`;
    }
    const edge = times.flatMap((time, n) => (typeof column[n] === "number" ? [`${px(x(time))},${px(y(column[n]))}`] : []));
    const ends = times.length ? `${px(x(times.at(-1) ?? 0))},${px(y(axis.low))} ${px(x(times[0] ?? 0))},${px(y(axis.low))}` : "";
    return `<polygon points="${edge.join(" ")} ${ends}" fill="${own}" stroke="${colour("--bg-surface")}" stroke-width="1"/>`;
  });
  let left = LEFT;
  const keys = chart.lines.map((line) => {
    const own = colour(line.token);
    const sample = areas && !line.over
      ? `<rect x="${px(left)}" y="31" width="12" height="8" fill="${own}"/>`
      : `<path d="M${px(left)} 35h22" stroke="${own}" stroke-width="${line.width}"${line.dash ? ` stroke-dasharray="${line.dash.join(" ")}"` : ""}/>`;
    const key = sample + text(left + 28, 39, line.label);
    left += 28 + line.label.length * LETTER_PX + 18;
    return key;
  });
  const body = [
    `<defs><clipPath id="plot"><rect x="${LEFT}" y="${TOP - 4}" width="${WIDTH - LEFT - RIGHT}" height="${HEIGHT - TOP - BOTTOM + 8}"/></clipPath></defs>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${colour("--bg-surface")}"/>`,
    `<text x="12" y="18" font-size="13" font-weight="600" fill="${colour("--text")}">${escaped(chart.title)}</text>`,
    text(WIDTH - RIGHT, 18, chart.note, 'text-anchor="end"'),
    ...keys,
    ...grid,
    ...moments,
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "virtual time, s", 'text-anchor="middle"'),
    `<g clip-path="url(#plot)">${curves.join("")}</g>`,
  ];
  return {
    svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="${FONT}">${body.join("")}</svg>`,
    width: WIDTH,
    height: HEIGHT,
  };
}

/** Of a line among others: undefined is a time that only the others have. */
type Sparse = (number | null | undefined)[];

/** Its value also at times that only others have, up to its own last one. */
function held(column: Sparse): Column {
  const last = column.findLastIndex((value) => value !== undefined);
  let value: number | null | undefined;
  return column.map((one, at) => (at > last ? one : (value = one === undefined ? value : one))) as Column;
}

/** Each value once more where the next one begins. */
function withCorners(times: number[], columns: Sparse[]): { times: number[]; columns: Sparse[] } {
  const twice = <Item>(all: Item[]) => all.flatMap((one, at) => (at ? [one, one] : [one]));
  const corner = (column: Sparse, at: number) => (column[at] === undefined ? undefined : (column[at - 1] ?? null));
  const cornered = (column: Sparse) => column.flatMap((value, at) => (at ? [corner(column, at), value] : [value]));
  return { times: twice(times), columns: columns.map(cornered) };
}

/** Broken at null; undefined is a time that only other lines have. A lone value is drawn as a dot: a line to itself. */
function pathOf(
  times: number[],
  column: readonly (number | null | undefined)[],
  x: (time: number) => number,
  y: (value: number) => number,
): string {
  let pen = "M";
  return times
    .map((time, at) => {
      const value = column[at];
      if (value === undefined) return "";
      if (value === null) {
        pen = "M";
        return "";
      }
      const step = `${pen}${px(x(time))} ${px(y(value))}${pen === "M" ? "h0" : ""}`;
      pen = "L";
      return step;
    })
    .join("");
}
