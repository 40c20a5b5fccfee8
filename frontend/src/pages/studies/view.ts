import { useMemo } from "react";
import { useUrlState } from "../../lib/useUrlState";
import { firstAcross, whyNoCells, type Dimension, type Held } from "../../model/study/chart";
import { engineAxis } from "../../model/study/engines";
import { isNumeric, isOptimised, loadOf, type StudyDocument } from "../../model/study/study";

const NAMES = ["view", "metrics", "x", "up", "hold", "log", "sort", "point"] as const;
type Name = (typeof NAMES)[number];

/** "history" is what an optimisation shows first: trial by trial. "search": load by load, first where a search has no other axis. "matrix":
 * engine by engine, first where they are compared. */
export type Way = "lines" | "heat" | "table" | "history" | "search" | "matrix";

export const usualWay = (study: StudyDocument): Way => 
  isOptimised(study) ? "history" : engineAxis(study) ? "matrix" : loadOf(study) && !study.axes?.length ? "search" : "lines";

export interface View {
  way: Way;
  /** As the address has them; empty: the usual ones. */
  metrics: string;
  across: Dimension;
  /** The vertical axis of a heat map. */
  up: string;
  held: Held;
  /** Which axes are logarithmic; null: as suits the values. */
  log: { x: boolean; y: boolean } | null;
  sort: string;
  point: string;
  change: (changes: Partial<Record<Name, string>>, replace?: boolean) => void;
  hold: (dimension: string, value: string) => void;
  setLog: (log: { x: boolean; y: boolean }) => void;
}

/** What the result page shows, as its address says. */
export function useView(study: StudyDocument, dimensions: Dimension[]): View {
  const [url, change] = useUrlState(NAMES);
  const held = useMemo(() => heldIn(url.hold), [url.hold]);
  const usual = usualWay(study);
  const way: Way = url.view === "matrix" && engineAxis(study) ? "matrix" : url.view === "search" && loadOf(study) ? "search" : url.view === "table" || url.view === "lines" ? url.view : url.view === "heat" && !whyNoCells(study) ? "heat" : usual;
  const given = dimensions.find(({ name }) => name === url.x);
  const across = given && (way !== "heat" || (given.numeric && given.of === "axis")) ? given : firstAcross(dimensions);
  const rising = (study.axes ?? []).filter((axis) => isNumeric(axis) && axis.name !== across.name).map(({ name }) => name);
  return {
    way,
    metrics: url.metrics,
    across,
    up: rising.includes(url.up) ? url.up : (rising.at(-1) ?? ""),
    held,
    log: url.log ? { x: url.log.includes("x"), y: url.log.includes("y") } : null,
    sort: url.sort,
    point: url.point,
    change,
    hold: (dimension, value) => change({ hold: heldText(value ? { ...held, [dimension]: value } : without(held, dimension)) }),
    setLog: ({ x, y }) => change({ log: `${x ? "x" : ""}${y ? "y" : ""}` || "none" }),
  };
}

/** In an address: "workers~2;policy~credits". */
const heldIn = (text: string): Held =>
  Object.fromEntries(text.split(";").flatMap((pair) => (pair.includes("~") ? [pair.split(/~(.*)/s).slice(0, 2) as [string, string]] : [])));
const heldText = (held: Held) => Object.entries(held).map((pair) => pair.join("~")).join(";");
const without = (held: Held, gone: string): Held => Object.fromEntries(Object.entries(held).filter(([name]) => name !== gone));
