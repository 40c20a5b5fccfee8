/** Ways of the links between regions: from frame to frame below the hosts, the longer the lower, so that none cross that need not. */
import type { ExperimentDocument } from "../../api/document";
import { goesBack, isWithin, regionLinksOf } from "../document/regions";
import type { HostGroup } from "./hostTiles";

const LANE = { first: 24, step: 26 } as const;
const CORNER = 8;
const HEAD = { width: 4, height: 7 } as const;

export interface RegionWay {
  /** Its place among the region links of the document. */
  index: number;
  path: string;
  /** Heads of the arrows, as one path. */
  heads: string;
  /** Middle of its label. */
  x: number;
  y: number;
}

interface Span {
  index: number;
  /** Places of the regions at its ends, from left to right. */
  left: number;
  right: number;
  lane: number;
}

/** Links within a region, or to a region without hosts, have no way. */
export function layoutRegionLinks(document: ExperimentDocument, groups: HostGroup[]): RegionWay[] {
  const places = new Map(groups.map((group, place) => [group.id, place]));
  const links = regionLinksOf(document);
  const spans = inLanes(
    links.flatMap((link, index): Omit<Span, "lane">[] => {
      const ends = [places.get(link.source ?? ""), places.get(link.target ?? "")];
      const [a, b] = ends;
      return a === undefined || b === undefined || isWithin(link) ? [] : [{ index, left: Math.min(a, b), right: Math.max(a, b) }];
    }),
  );
  const ends = endsBelow(spans, groups);
  return spans.map(({ index, left, lane }) => {
    const link = links[index];
    const [from, to] = [ends.get(`${index} left`) ?? 0, ends.get(`${index} right`) ?? 0];
    const top = Math.max(0, ...groups.map((group) => group.y + group.height));
    const y = top + LANE.first + lane * LANE.step;
    const isRightward = link !== undefined && places.get(link.target ?? "") !== left;
    const both = link !== undefined && goesBack(link);
    return {
      index,
      path: `M${from} ${top}V${y - CORNER}Q${from} ${y} ${from + CORNER} ${y}H${to - CORNER}Q${to} ${y} ${to} ${y - CORNER}V${top}`,
      heads: [...(both || !isRightward ? [head(from, top)] : []), ...(both || isRightward ? [head(to, top)] : [])].join(""),
      x: (from + to) / 2,
      y,
    };
  });
}

const head = (x: number, top: number) => `M${x - HEAD.width} ${top + HEAD.height}L${x} ${top}L${x + HEAD.width} ${top + HEAD.height}`;

/** How far the ways reach below the hosts. */
export const depthOf = (ways: RegionWay[], top: number) => (ways.length ? Math.max(...ways.map(({ y }) => y)) + LANE.step / 2 - top : 0);

/** Short spans first, each in the highest lane in which it overlaps none. Spans that only touch share a lane. */
function inLanes(spans: Omit<Span, "lane">[]): Span[] {
  const placed: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.right - a.left - (b.right - b.left))) {
    const overlapping = placed.filter((other) => span.left < other.right && other.left < span.right).map(({ lane }) => lane);
    placed.push({ ...span, lane: Math.max(-1, ...overlapping) + 1 });
  }
  return placed;
}

/** Where the ends stand below each frame: what comes from the left first, the lowest lanes in the middle. */
function endsBelow(spans: Span[], groups: HostGroup[]): Map<string, number> {
  const ends = new Map<string, number>();
  groups.forEach((group, place) => {
    const fromLeft = spans.filter(({ right }) => right === place).sort((a, b) => a.lane - b.lane);
    const toRight = spans.filter(({ left }) => left === place).sort((a, b) => b.lane - a.lane);
    const names = [...fromLeft.map(({ index }) => `${index} right`), ...toRight.map(({ index }) => `${index} left`)];
    names.forEach((name, at) => ends.set(name, Math.round(group.x + (group.width * (at + 1)) / (names.length + 1))));
  });
  return ends;
}
