/** When an engine stopped all of its sources at once. */
import type { Span } from "./span";

export interface Stop {
  from_s: number;
  to_s: number;
}

/** Adds the stops of a frame. One that goes on from the frame before becomes longer. */
export function addStops(stops: Stop[], told_s: number[][]): void {
  for (const [from_s = 0, to_s = 0] of told_s) {
    const last = stops.at(-1);
    if (last && Math.abs(last.to_s - from_s) < 1e-9) last.to_s = to_s;
    else stops.push({ from_s, to_s });
  }
}

/** The share of a stretch of time in which sources were stopped; 0 if it has no length. */
export function shareStopped(stops: readonly Stop[], { from_s, to_s }: Span): number {
  const stopped_s = stops.reduce((sum, stop) => sum + Math.max(0, Math.min(stop.to_s, to_s) - Math.max(stop.from_s, from_s)), 0);
  return to_s > from_s ? stopped_s / (to_s - from_s) : 0;
}
