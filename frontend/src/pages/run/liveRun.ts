/** One run, live: its row, its frames without a hole, and the connection that brings them. */
import { create } from "zustand";
import { ApiError, get } from "../../api/client";
import { isActive } from "../../api/queries";
import { RunSocket } from "../../api/runSocket";
import { GONE, NO_MEMBER, SIGNED_OUT } from "../../api/socket";
import type { Frame, Run } from "../../api/types";
import { FrameLog } from "../../model/run/frames";
import type { Span } from "../../model/run/series";

/** Why nothing more comes, though the run may go on. */
export type Refusal = "signed-out" | "gone" | "refused";
const REFUSALS: Record<number, Refusal> = { [SIGNED_OUT]: "signed-out", [NO_MEMBER]: "signed-out", [GONE]: "gone" };

export interface LiveRun {
  run: Run | null;
  /** All frames that came; it grows in place. */
  log: FrameLog;
  /** How many of them are shown. */
  count: number;
  /** All frames of a finished run are here. */
  complete: boolean;
  /** Failed tries to connect in a row; the page speaks up after the sixth. */
  failures: number;
  /** Seconds until the next try, while waiting. */
  retryIn_s: number | null;
  refused: { why: Refusal; reason: string } | null;
  /** Why the run could not be loaded at all. */
  error: unknown;
  /** Moment that everything shows, in virtual seconds: pinned, else hovered, else the head (null). */
  pinned_s: number | null;
  hovered_s: number | null;
  /** Stretch that the charts show; null: all of it. */
  zoom: Span | null;
  /** The pinned moment moves on at `speed` virtual seconds a second. */
  playing: boolean;
}

const blank = (): LiveRun => ({
  run: null,
  log: new FrameLog(),
  count: 0,
  complete: false,
  failures: 0,
  retryIn_s: null,
  refused: null,
  error: null,
  pinned_s: null,
  hovered_s: null,
  zoom: null,
  playing: false,
});

export const useLiveRun = create<LiveRun>(blank);
const set = useLiveRun.setState;
const FRAMES_PER_PAGE = 1000;

/** How the run is shown; the same for all runs. */
export interface Showing {
  /** Virtual seconds a second, while playing. */
  speed: number;
  /** How often the page draws, at most; 0: whenever something comes. */
  refresh_per_s: number;
}
export const useShowing = create<Showing>(() => ({ speed: 1, refresh_per_s: 0 }));

/** Live frames that are not drawn yet, with the time at which the worker sent them. */
const lagsToCome: { n: number; at_s: number }[] = [];
const LAGS_MAX = 10_000;

/** The first so many frames have been drawn: notes how long live ones took from the worker until the screen shows them. */
export function noteDrawn(count: number): void {
  const probe = window.__millrace;
  if (!probe || !count) return;
  const now_ms = performance.now();
  if (probe.firstPointMs < 0) probe.firstPointMs = now_ms;
  if (probe.drawnFrame >= count - 1) return;
  Object.assign(probe, { drawings: probe.drawings + 1, drawnFrame: count - 1, drawnMs: now_ms });
  const drawn = lagsToCome.filter(({ n }) => n < count);
  if (!drawn.length) return;
  lagsToCome.splice(0, drawn.length);
  // What is drawn now is on the screen after the next frame of the browser.
  requestAnimationFrame(() =>
    setTimeout(() => {
      const shown_ms = performance.timeOrigin + performance.now();
      probe.lagsMs = [...probe.lagsMs, ...drawn.map(({ at_s }) => shown_ms - 1000 * at_s)].slice(-LAGS_MAX);
    }),
  );
}

/** For tests and the console. `firstPointMs` is on the page's own clock (performance.now), -1 before. */
interface Probe {
  runNumber: number;
  framesReceived: number;
  firstFrame: number;
  lastFrame: number;
  gaps: number;
  firstPointMs: number;
  /** How often something new was drawn. */
  drawings: number;
  /** Of the newest frame that was drawn: its number, and when that was on the page's clock. */
  drawnFrame: number;
  drawnMs: number;
  /** From when the worker sent live frames to when they were on the screen. */
  lagsMs: number[];
  /** What the first chart draws: times, then the values of each line. */
  chart: ArrayLike<ArrayLike<number | null | undefined>>;
}

declare global {
  interface Window {
    __millrace?: Probe;
  }
}

export function followRun(id: string): { stop: () => void; tryNow: () => void } {
  let stopped = false;
  set(blank());
  const { log } = useLiveRun.getState();
  const none = { firstFrame: -1, lastFrame: -1, firstPointMs: -1, drawnFrame: -1, drawnMs: -1 };
  window.__millrace = { runNumber: 0, framesReceived: 0, gaps: 0, drawings: 0, chart: [], lagsMs: [], ...none };
  lagsToCome.length = 0;

  let waiting = false;
  let drawnAt_ms = -Infinity;
  /** Shows what has come with the screen's next drawing, or as soon as the refresh rate allows; once for all that comes until then. */
  const show = () => {
    if (waiting) return;
    waiting = true;
    const { refresh_per_s } = useShowing.getState();
    const wait_ms = refresh_per_s ? drawnAt_ms + 1000 / refresh_per_s - performance.now() : 0;
    const now = () => {
      waiting = false;
      drawnAt_ms = performance.now();
      if (!stopped) set({ count: log.count });
    };
    if (wait_ms > 0) setTimeout(() => requestAnimationFrame(now), wait_ms);
    else requestAnimationFrame(now);
  };

  const take = (batch: Frame[]): boolean => {
    const follows = log.add(batch);
    if (stopped) return true;
    show();
    const probe = window.__millrace;
    const first = batch[0]?.n ?? -1;
    if (probe)
      Object.assign(probe, {
        framesReceived: log.count,
        firstFrame: probe.firstFrame < 0 ? first : probe.firstFrame,
        lastFrame: log.column("n")[log.count - 1] ?? -1,
        gaps: log.gaps,
      });
    return follows;
  };

  /** Reads pages until there are no more. */
  const readAll = async (): Promise<void> => {
    for (;;) {
      const after = log.count - 1;
      const page = await get<{ frames: Frame[]; next: number | null }>(`/api/runs/${id}/frames?after=${after}&limit=${FRAMES_PER_PAGE}`);
      if (stopped) return;
      take(page.frames);
      if (page.next === null || !page.frames.length) return;
    }
  };

  const socket = new RunSocket(id, {
    after: () => log.count - 1,
    onFrames: (frames, at_s) => {
      const last = frames.at(-1);
      if (at_s !== undefined && last) lagsToCome.push({ n: last.n, at_s });
      return take(frames);
    },
    // The stream's row has no document; the one at hand stays.
    onRun: (run) => set((state) => ({ run: { ...state.run, ...run }, refused: null })),
    onEnd: () => {
      set({ complete: true });
      // The end of a run that was deleted while it was watched leads to nothing.
      reload().catch((error: unknown) => refuse(error));
    },
    onRefused: (code, reason) => set({ refused: { why: REFUSALS[code] ?? "refused", reason } }),
    onTrouble: (failures, retryIn_s) => set({ failures, retryIn_s }),
  });

  /** What is on the page stays; a bar says why nothing more comes. */
  const refuse = (error: unknown) => {
    if (stopped || !(error instanceof ApiError)) return;
    if (error.status === 401 || error.status === 403) set({ refused: { why: "signed-out", reason: error.message } });
    if (error.status === 404) set({ refused: { why: "gone", reason: error.message } });
  };

  const reload = async () => {
    const run = await get<Run>(`/api/runs/${id}`);
    if (!stopped) set((state) => ({ run: { ...state.run, ...run } }));
    return run;
  };

  void (async () => {
    try {
      const run = await reload();
      if (stopped) return;
      if (window.__millrace) window.__millrace.runNumber = run.number;
      if (isActive(run)) return socket.open();
      await readAll();
      if (!stopped) set({ complete: true });
    } catch (error) {
      if (!stopped) set({ error });
    }
  })();

  return {
    stop: () => {
      stopped = true;
      socket.close();
    },
    tryNow: () => {
      set({ refused: null });
      socket.tryNow();
    },
  };
}

/** Virtual seconds shown now, or null for the head. */
export const momentOf = (state: Pick<LiveRun, "pinned_s" | "hovered_s">) => state.pinned_s ?? state.hovered_s;

/** Holds the moment of a frame, and returns it: its end. */
export const hold = (t_s: number): number => {
  const { log } = useLiveRun.getState();
  const pinned_s = log.timeOf(Math.max(0, log.numberAt(t_s)));
  useLiveRun.setState({ pinned_s, playing: false });
  return pinned_s;
};
