/** Figures of papers: what is drawn of their values, what stands in their tables, and how their status is told. Pure. */
import {
  STATUSES,
  type AssertionState,
  type DrawnAs,
  type FigureColumn,
  type FigureDocument,
  type FigureSource,
  type FigureStatus,
  type FigureValue,
  type PanelAxis,
  type Scale,
  type Side,
} from "../../api/figure";
import type { FigureShipped, Reproduction } from "../../api/types";
import { percent, short } from "../../lib/format";

export interface Spot {
  x: number | string;
  y: number;
  low: number | null;
  high: number | null;
  runs: string[];
  /** It is y, or more. */
  atLeast?: true;
}

export interface Curve {
  value: string;
  name: string;
  /** Of a column; "" where the panel's axis says it. */
  unit: string;
  reported: boolean;
  mark: DrawnAs;
  column: FigureColumn;
  /** Place among the panel's names; reported and measured of one name have the same colour. */
  at: number;
  spots: Spot[];
}

export interface DrawnPanel {
  title: string;
  x: Required<PanelAxis>;
  y: Required<PanelAxis>;
  names: string[];
  curves: Curve[];
  marks: { x: number; name: string }[];
  /** What is not drawn, and why. */
  missing: { name: string; reason: string }[];
}

const axis = ({ title = "", unit = "", log = false }: PanelAxis = {}): Required<PanelAxis> => ({ title, unit, log });
export const axisText = ({ title, unit }: PanelAxis) => [title, unit].filter(Boolean).join(", ");

/** What each panel draws: the paper's numbers, and what was measured, where there is any. */
export function panelsOf(document: FigureDocument, values: Record<string, FigureValue>): DrawnPanel[] {
  return document.drawing.panels.map((panel) => {
    const names = [...new Set(panel.series.map((series) => series.name || series.value))];
    const curves: Curve[] = [];
    const missing: DrawnPanel["missing"] = [];
    const { columns = {} } = document.drawing;
    for (const { value, name = "", unit = "", reported = false, mark = "line" } of panel.series) {
      const label = name || value;
      const given = reported ? reportedValue(document.reported?.[value]) : values[value];
      const spots = spotsOf(given, label);
      const as = given && "value" in given && mark === "line" ? "points" : mark;
      const own = { value, name: label, unit, reported, mark: as, column: columns[label] ?? {}, at: names.indexOf(label) };
      if (spots.length) curves.push({ ...own, spots });
      else missing.push({ name: label, reason: given && "reason" in given ? given.reason : "not measured yet" });
    }
    const marks = (panel.marks ?? []).flatMap(({ at, name = "" }) => {
      const given = values[at];
      return given && "value" in given ? [{ x: given.value, name }] : [];
    });
    return { title: panel.title || curves[0]?.name || "", x: axis(panel.x), y: axis(panel.y), names, curves, marks, missing };
  });
}

const reportedValue = (given: number | { x: (number | string)[]; y: number[] } | undefined): FigureValue | undefined =>
  typeof given === "number" ? { value: given } : given;

/** A number stands over its name, as bars and points do that have no axis of their own. */
function spotsOf(value: FigureValue | undefined, name: string): Spot[] {
  if (!value || "reason" in value) return [];
  if ("value" in value) {
    const { value: y, low = null, high = null, runs = [], at_least } = value;
    return [{ x: name, y, low, high, runs, ...openIf(at_least) }];
  }
  return value.x.map((x, at) => ({
    x,
    y: value.y[at] ?? NaN,
    low: value.low?.[at] ?? null,
    high: value.high?.[at] ?? null,
    runs: (value.runs?.length === 1 ? value.runs[0] : value.runs?.[at]) ?? [],
    ...openIf(value.at_least?.[at]),
  }));
}
const openIf = (open: boolean | undefined) => (open ? { atLeast: true as const } : {});

/** "71.8", or "≥ 85k" of a number that was still growing when its run ended. */
export const spotValue = ({ y, atLeast }: Spot) => (atLeast ? `≥ ${short(y)}` : short(y));

/** Keys of the runs behind a value. */
export const keysOf = (value: FigureValue): string[] => ("runs" in value ? (value.runs?.flat() ?? []) : []);

/** Where a point of a curve stands, after the curve's name: "Time 15 s", or the row of a table, and of which. */
export function placeOf({ title, x: { title: axis, unit } }: DrawnPanel, curve: string, x: number | string): string {
  if (typeof x === "number") return [axis || "x", short(x), unit].filter(Boolean).join(" ");
  return [x === curve ? "" : x, title].filter(Boolean).join(", ");
}

/** A point of the drawing in the address: panel, curve, place. */
export interface PointAt {
  panel: number;
  curve: number;
  spot: number;
}
export const pointText = ({ panel, curve, spot }: PointAt) => `${panel}.${curve}.${spot}`;

/** The point that an address names, or the first one that has runs behind it; null where nothing was measured. */
export function pointOf(text: string, panels: readonly DrawnPanel[]): PointAt | null {
  const [panel = NaN, curve = NaN, spot = NaN] = /^\d+\.\d+\.\d+$/.test(text) ? text.split(".").map(Number) : [];
  if (panels[panel]?.curves[curve]?.spots[spot]) return { panel, curve, spot };
  for (const [panel, { curves }] of panels.entries())
    for (const [curve, { reported, spots }] of curves.entries()) if (!reported && spots.length) return { panel, curve, spot: 0 };
  return null;
}

export interface PanelTable {
  head: string;
  /** Indexes into the panel's curves. */
  columns: number[];
  rows: { x: number | string; spots: (number | null)[] }[];
}

/** The same numbers as a table: a row for each x, a column for each curve, with the point's place in it. Names keep their order. */
export function tableOf({ x, curves }: DrawnPanel): PanelTable {
  const rows = new Map<number | string, (number | null)[]>();
  for (const [at, { spots }] of curves.entries())
    for (const [spot, { x }] of spots.entries()) {
      const row = rows.get(x) ?? curves.map(() => null);
      row[at] = spot;
      rows.set(x, row);
    }
  const sorted = [...rows].sort(([a], [b]) => (typeof a === "number" && typeof b === "number" ? a - b : 0));
  return { head: axisText(x) || "Value", columns: curves.map((_, at) => at), rows: sorted.map(([x, spots]) => ({ x, spots })) };
}

/** Places of the best in a column; none where nobody said which that is, or where all are alike. */
export function bestOf({ column: { better }, spots }: Pick<Curve, "column" | "spots">): number[] {
  const all = spots.map(({ y }) => y).filter(Number.isFinite);
  const best = better === "lower" ? Math.min(...all) : Math.max(...all);
  return better && all.some((y) => y !== best) ? spots.flatMap(({ y }, at) => (y === best ? [at] : [])) : [];
}

const CSV_HEAD = ["panel", "series", "source", "x_title", "x_unit", "x", "y_title", "y_unit", "y", "low", "high", "runs", "at_least"];

/** Everything that is drawn, a line for each point. */
export function csvOf(panels: readonly DrawnPanel[]): string {
  const lines = panels.flatMap(({ title, x, y, curves }) =>
    curves.flatMap(({ name, unit, reported, spots }) =>
      spots.map((spot) =>
        [title, name, reported ? "reported" : "measured", x.title, x.unit, spot.x, y.title, unit || y.unit, spot.y, spot.low, spot.high, spot.runs.join(" "), spot.atLeast ? "yes" : ""],
      ),
    ),
  );
  return [CSV_HEAD, ...lines].map((line) => line.map(csvCell).join(",")).join("\n") + "\n";
}

/** Texts that a spreadsheet would take for a formula begin with an apostrophe. */
function csvCell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One side of a comparison, as it was measured. */
export function sideText({ least, most }: Side): string {
  if (most === null) return `${exact(least)} or more`;
  return least === most ? exact(least) : `${exact(least)} to ${exact(most)}`;
}
/** Enough figures to see on which side of a bound a number lies. */
const exact = (value: number) => (Math.abs(value) >= 1e7 ? short(value) : String(Number(value.toPrecision(5))));

/** "5 hold, 1 does not, 2 not evaluated". */
export function tallyText(states: Partial<Record<AssertionState, number>>): string {
  const { holds = 0, fails = 0, "not evaluated": open = 0, "not run": idle = 0 } = states;
  const parts = [
    holds && `${holds} ${holds === 1 ? "holds" : "hold"}`,
    fails && `${fails} ${fails === 1 ? "does" : "do"} not`,
    open && `${open} not evaluated`,
    idle && `${idle} not run`,
  ];
  return parts.filter(Boolean).join(", ");
}

type UnderWay = Pick<Reproduction, "state" | "progress" | "cancel_requested"> & Partial<Pick<Reproduction, "doing">>;

/** What stands where a verdict will: a first run waits for a worker, or is in progress, so far. */
export function underWayText({ state, progress, cancel_requested, doing }: UnderWay): string {
  if (cancel_requested) return "Cancelling";
  return state === "queued" ? "Waiting" : doing ? "Running" : `Running, ${percent(progress)}`;
}

/** "2 hold, 3 wait for their runs". */
export function underWayTally(states: Partial<Record<AssertionState, number>>, { state }: UnderWay): string {
  const { "not run": open = 0, ...judged } = states;
  const waits = open === 1 ? "waits" : "wait";
  const waiting = open && `${open} ${waits} for ${state === "queued" ? "a worker" : open === 1 ? "its runs" : "their runs"}`;
  return [tallyText(judged), waiting].filter(Boolean).join(", ");
}

/** How many of these figures have which status, in the order of `STATUSES`: "2 calibrated, 1 not run; 2 at smoke scale". */
export function statusesText(figures: readonly { status: FigureStatus; scale: Scale | null }[]): string {
  const counts = STATUSES.map((status) => ({ status, count: figures.filter((figure) => figure.status === status).length }));
  const told = counts
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count} ${status === "partly" ? "partly reproduced" : status}`)
    .join(", ");
  const smoke = figures.filter(({ scale }) => scale === "smoke").length;
  return smoke ? `${told}; ${smoke} at smoke scale` : told;
}

/** Below a status: that it comes with Millrace, or, of the lab's own, what came with it. */
export function shippedText(isShipped: boolean, { status, scale, engine_version, is_current }: Pick<FigureShipped, "status" | "scale" | "engine_version" | "is_current">): string {
  const told = isShipped ? "comes with Millrace" : `shipped result: ${status === "partly" ? "partly reproduced" : status} at ${scale} scale`;
  return is_current ? told : `${told}, engine version ${engine_version}`;
}

export const agreesText = (agrees: boolean) => `values ${agrees ? "equal" : "differ from"} the shipped result`;

/** What is measured for a figure that the paper does not have. */
const OWN = "our own figure";
export const isOwn = ({ figure }: Partial<FigureSource>) => !figure || figure === OWN;

/** Where in the paper it stands: most are figures, some tables or text. */
const placeText = (figure: string) => (/^\d/.test(figure) ? `figure ${figure}` : figure);

/** What a figure is called where its paper is named already. */
export function shortName({ id, document: { source } }: { id: string; document: Pick<FigureDocument, "source"> }): string {
  const own = id.split("/")[1] ?? id;
  const place = placeText(source.figure ?? "");
  // Several figures may stand for the same text of a paper.
  return isOwn(source) || place === "text" ? own : place.replace(/^./, (letter) => letter.toUpperCase());
}

export const sourceText = ({ paper, figure, section, page }: Partial<FigureSource>) =>
  [paper, figure && placeText(figure), section && (/^[\d.A-Z]+$/.test(section) ? `section ${section}` : section), page && `page ${page}`]
    .filter(Boolean)
    .join(", ");

/** What a list knows of a figure, as far as searching needs it. */
interface Listed {
  id: string;
  title: string;
  source: FigureSource;
  status: FigureStatus;
}

export function matching<Item extends Listed>(items: readonly Item[], search: string, status: string): Item[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    const spoken = `${item.id} ${item.title} ${sourceText(item.source)}`.toLowerCase();
    return (!status || item.status === status) && words.every((word) => spoken.includes(word));
  });
}

/** In the order of the list, but papers without any result come last. A figure's paper is the first part of its id, which tells parts of
 * one publication apart. */
export function byPaper<Item extends Listed>(items: readonly Item[]): { paper: string; name: string; figures: Item[] }[] {
  const papers = new Map<string, Item[]>();
  for (const item of items) {
    const paper = item.id.split("/")[0] ?? "";
    papers.set(paper, [...(papers.get(paper) ?? []), item]);
  }
  const isEmpty = ([, figures]: [string, Item[]]) => figures.every(({ status }) => status === "not run");
  const sorted = [...papers].sort((a, b) => Number(isEmpty(a)) - Number(isEmpty(b)));
  const names = sorted.map(([, [first]]) => first?.source.paper ?? "");
  return sorted.map(([paper, figures], at) => {
    const name = names[at] || paper;
    return { paper, name: names.filter((one) => one === name).length > 1 ? `${name}, ${paper}` : name, figures: figures.sort(byNumber) };
  });
}

/** Lessons on a paper's figures: their ids begin with the paper, as figures' do. */
export const lessonsOf = <Item extends { id: string }>(lessons: readonly Item[], paper: string): Item[] =>
  lessons.filter(({ id }) => id.startsWith(`${paper}-`));

const byNumber = (a: Listed, b: Listed) => a.id.localeCompare(b.id, "en", { numeric: true });
