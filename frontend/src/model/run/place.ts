/** Where moments stand on charts that show a stretch of virtual time. */
import type { Span } from "./span";

export interface Places {
  /** 0 at the beginning of the stretch, 1 at its end; beyond them outside. */
  place: (t_s: number) => number;
  /** The same as a style's length from the left, within the chart. */
  share: (t_s: number) => string;
  /** How wide two moments are apart, as far as it is seen. */
  wide: (from_s: number, to_s: number) => string;
}

export function placesIn({ from_s, to_s }: Span): Places {
  const place = (t_s: number) => (t_s - from_s) / (to_s - from_s);
  const text = (share: number) => `${(share * 100).toFixed(4)}%`;
  return {
    place,
    share: (t_s) => text(Math.min(1, Math.max(0, place(t_s)))),
    wide: (from_s, to_s) => text(Math.max(0, Math.min(1, place(to_s)) - Math.max(0, place(from_s)))),
  };
}
