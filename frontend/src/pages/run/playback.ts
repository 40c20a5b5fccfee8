/**
 * Playing: the moment shown moves on by itself, at a speed of its own. How fast the engine works and how often the page draws have
 * nothing to do with it; at the head of a run that goes on it waits for more.
 */
import { useEffect } from "react";
import { isActive } from "../../api/queries";
import { useLiveRun, useShowing } from "./liveRun";

/** Virtual seconds a second. */
export const SPEEDS = [0.1, 0.25, 1, 2, 5, 10, 30, 100];
/** Drawings a second; 0: whenever something comes, or the screen is drawn. */
export const REFRESH_RATES = [0, 10, 4, 2, 1];

export function play(): void {
  const { log, pinned_s, run } = useLiveRun.getState();
  if (!log.count) return;
  // From the end there is nothing to play: begin anew.
  const atEnd = (pinned_s ?? log.head_s) >= log.head_s && run !== null && !isActive(run);
  useLiveRun.setState({ playing: true, pinned_s: atEnd ? log.timeOf(0) : (pinned_s ?? log.head_s) });
}

/** Holds the moment that is shown. A run that goes on goes on. */
export function pause(): void {
  const { log, pinned_s } = useLiveRun.getState();
  useLiveRun.setState({ playing: false, pinned_s: pinned_s ?? (log.count ? log.head_s : null) });
}

export const goLive = () => useLiveRun.setState({ pinned_s: null, playing: false });

/** Moves the moment while it plays. */
export function usePlayback(): void {
  const playing = useLiveRun((state) => state.playing);
  useEffect(() => {
    if (!playing) return;
    let at_s = useLiveRun.getState().pinned_s ?? 0;
    let last_ms = performance.now();
    let shown_ms = -Infinity;
    let request = requestAnimationFrame(function tick(now_ms: number) {
      const { log, run, pinned_s } = useLiveRun.getState();
      const { speed, refresh_per_s } = useShowing.getState();
      at_s = Math.min(log.head_s, at_s + Math.min(0.25, (now_ms - last_ms) / 1000) * speed);
      last_ms = now_ms;
      const t_s = log.timeOf(Math.max(0, log.numberAt(at_s)));
      const due = !refresh_per_s || now_ms - shown_ms >= 1000 / refresh_per_s;
      if (t_s !== pinned_s && due) {
        shown_ms = now_ms;
        useLiveRun.setState({ pinned_s: t_s });
      }
      if (at_s >= log.head_s && run && !isActive(run)) return goLive();
      request = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(request);
  }, [playing]);
}
