/** Where a record of some direction goes in a similarity join (S3J), by the spaces and worksets of a moment. */
import { turnOf, type SpacePicture, type Workset } from "./spaces";

export type Role = "inner" | "outlier" | "outer" | "centroid";

export interface Stop {
  workset: Workset | null;
  role: Role;
  /** From the workset's centroid, in half turns. */
  distance: number;
}

export interface InSpace {
  space: number;
  /** It belongs to this space; otherwise it is a copy. */
  home: boolean;
  /** From the space's centroid. */
  distance: number;
  stops: Stop[];
}

export interface RecordRoute {
  spaces: InSpace[];
  /** Spaces whose centroid is near enough for a copy, which the other side makes. */
  spared: number[];
}

/** The angle between two directions, in half turns. */
const apart = (a: number, b: number) => Math.min(Math.abs(a - b), 2 - Math.abs(a - b));

/** Of two spaces, the one that gets the copies of the other. */
const meetsThere = (home: number, other: number) => home < other !== ((home + other) % 2 === 1);

/** Of all spaces the home comes first, then those that get copies, by number. turn: the direction, from -1 to 1. */
export function routeOf({ centroids, worksets }: SpacePicture, turn: number, threshold: number): RecordRoute {
  const far = centroids.map(([x = 0, y = 0]) => apart(turn, turnOf(x, y)));
  const nearest = Math.min(...far);
  const home = far.indexOf(nearest);
  const near = far.flatMap((distance, space) => (space !== home && distance <= nearest + 2 * threshold ? [space] : []));
  const copies = near.filter((space) => meetsThere(home, space));
  const measured = (space: number) =>
    worksets
      .filter((workset) => workset.space === space)
      .sort((a, b) => a.number - b.number)
      .map((workset) => ({ workset, distance: apart(turn, turnOf(workset.x, workset.y)) }));
  const outer = (of: { workset: Workset; distance: number }[]): Stop[] =>
    of.filter(({ distance }) => distance <= 2 * threshold).map((stop) => ({ ...stop, role: "outer" }));

  const own = measured(home);
  const closest = own.reduce<(typeof own)[number] | null>((best, one) => (best && best.distance <= one.distance ? best : one), null);
  const opens = !closest || closest.distance > threshold;
  const first: Stop = opens
    ? { workset: null, role: "centroid", distance: 0 }
    : { ...closest, role: closest.distance <= threshold / 2 ? "inner" : "outlier" };
  const older = opens ? own : own.filter(({ workset }) => workset.number < closest.workset.number);
  return {
    spaces: [
      { space: home, home: true, distance: nearest, stops: [first, ...outer(older)] },
      ...copies.map((space) => ({ space, home: false, distance: far[space] ?? 0, stops: outer(measured(space)) })),
    ],
    spared: near.filter((space) => !copies.includes(space)),
  };
}

/** Why a record goes where it does. */
export function reasonOf({ home, distance }: InSpace, threshold: number, nearest: number): string {
  return home
    ? `nearest centroid, ${distance.toFixed(4)} away`
    : `its centroid is ${(distance - nearest).toFixed(4)} farther, at most ${2 * threshold}`;
}

export const ROLE_TEXT: Record<Role, (threshold: number) => string> = {
  inner: (t) => `inner: within ${t / 2}, so it matches all inner records uncompared`,
  outlier: (t) => `outlier: within ${t} and beyond ${t / 2}, so it is compared with all`,
  outer: (t) => `outer copy: within ${2 * t}, compared with inner records and outliers`,
  centroid: (t) => `opens a workset: farther than ${t} from all others`,
};
