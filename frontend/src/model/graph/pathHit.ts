/** Which of many drawn paths lies at a point: what a click on thousands of edges that are one drawing means. */
import type { Position } from "../../api/document";

/** Straight pieces that a curve is taken for. */
const PIECES = 16;

export interface Outline {
  /** Corners of the straight pieces, x and y in turn. */
  points: number[];
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A path of absolute M, H, V, L, C and Q commands (those that edges are made of) as straight pieces. */
export function outlineOf(path: string): Outline {
  const points: number[] = [];
  let [x, y] = [0, 0];
  const to = (nextX: number, nextY: number) => {
    [x, y] = [nextX, nextY];
    points.push(x, y);
  };
  for (const [, command, rest] of path.matchAll(/([MHVLCQ])([^A-Za-z]*)/g)) {
    const numbers = (rest?.match(/-?\d*\.?\d+(?:e-?\d+)?/g) ?? []).map(Number);
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = numbers;
    if (command === "H") to(a, y);
    else if (command === "V") to(x, a);
    else if (command === "C" || command === "Q") {
      const [fromX, fromY] = [x, y];
      for (let piece = 1; piece <= PIECES; piece += 1) {
        const t = piece / PIECES;
        const u = 1 - t;
        if (command === "Q") to(u * u * fromX + 2 * u * t * a + t * t * c, u * u * fromY + 2 * u * t * b + t * t * d);
        else
          to(
            u * u * u * fromX + 3 * u * u * t * a + 3 * u * t * t * c + t * t * t * e,
            u * u * u * fromY + 3 * u * u * t * b + 3 * u * t * t * d + t * t * t * f,
          );
      }
    } else to(a, b);
  }
  const xs = points.filter((_, at) => at % 2 === 0);
  const ys = points.filter((_, at) => at % 2 === 1);
  return { points, left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
}

/** Index of the outline that is nearest to a point and no further away than `reach`, or -1. */
export function nearestOutline(outlines: readonly Outline[], { x, y }: Position, reach: number): number {
  let [found, least] = [-1, reach * reach];
  outlines.forEach(({ points, left, top, right, bottom }, index) => {
    if (x < left - reach || x > right + reach || y < top - reach || y > bottom + reach) return;
    for (let at = 2; at < points.length; at += 2) {
      const [fromX, fromY] = [points[at - 2] as number, points[at - 1] as number];
      const [alongX, alongY] = [(points[at] as number) - fromX, (points[at + 1] as number) - fromY];
      const length = alongX * alongX + alongY * alongY;
      const share = length ? Math.max(0, Math.min(1, ((x - fromX) * alongX + (y - fromY) * alongY) / length)) : 0;
      const [offX, offY] = [x - fromX - share * alongX, y - fromY - share * alongY];
      const distance = offX * offX + offY * offY;
      if (distance <= least) [found, least] = [index, distance];
    }
  });
  return found;
}
