/**
 * Replay: the moment shown moves on by itself, at its own speed. The pace of the run and the redraw rate do not affect it. At the head of a
 * run in progress it waits for more frames.
 */
import { useEffect } from "react";
import { isActive, isMoving } from "../../api/queries";
import type { Run } from "../../api/types";
import { useLiveRun, useShowing, type LiveRun } from "./liveRun";

/** Virtual seconds a second. */
export const SPEEDS = [0.1, 0.25, 1, 2, 5, 10, 30, 100];
/** Drawings a second; 0: whenever something comes, or the screen is drawn. */
export const REFRESH_RATES = [0, 10, 4, 2, 1];

export function replay(): void {
  const { log, pinned_s, run } = useLiveRun.getState();
  if (!log.count) return;
  // At the end nothing is left to replay: start from the first frame.
  const atEnd = (pinned_s ?? log.head_s) >= log.head_s && run !== null && !isMoving(run);
  useLiveRun.setState({ playing: true, pinned_s: atEnd ? log.timeOf(0) : (pinned_s ?? log.head_s) });
}

/** Holds the moment shown. The run continues. */
export function freeze(): void {
  const { log, pinned_s } = useLiveRun.getState();
  useLiveRun.setState({ playing: false, pinned_s: pinned_s ?? (log.count ? log.head_s : null) });
}

export const follow = () => useLiveRun.setState({ pinned_s: null, playing: false });

/** What the view does, in words: it stands beside the moment shown. */
export function viewSays({ run, pinned_s, playing, speed }: Pick<LiveRun, "pinned_s" | "playing"> & { run: Pick<Run, "state">; speed: number }): string {
  if (playing) return `replay, ${speed} ×`;
  if (pinned_s !== null) return "view frozen";
  return isActive(run) ? "follows the run" : "end of the run";
}

/** Moves the moment during a replay. */
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
      if (at_s >= log.head_s && run && !isActive(run)) return follow();
      request = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(request);
  }, [playing]);
}
