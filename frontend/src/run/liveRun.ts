/** One run, live: its row, its frames without a hole, and the connection that brings them. */
import { create } from "zustand";
import { get } from "../api/client";
import { isActive } from "../api/queries";
import { RunSocket } from "../api/runSocket";
import type { Frame, Run } from "../api/types";
import { addFrames, emptyLog, nextNumber, type FrameLog } from "../model/frames";

export interface LiveRun {
  run: Run | null;
  log: FrameLog;
  /** All frames of a finished run are here. */
  complete: boolean;
  /** Failed tries to connect in a row; the page speaks up after the sixth. */
  failures: number;
  /** Seconds until the next try, while waiting. */
  retryIn_s: number | null;
  error: unknown;
  /** Moment that everything shows, in virtual seconds: pinned, else hovered, else the head (null). */
  pinned_s: number | null;
  hovered_s: number | null;
}

const blank: LiveRun = {
  run: null,
  log: emptyLog(),
  complete: false,
  failures: 0,
  retryIn_s: null,
  error: null,
  pinned_s: null,
  hovered_s: null,
};

export const useLiveRun = create<LiveRun>(() => blank);
const set = useLiveRun.setState;
const FRAMES_PER_PAGE = 1000;

/** For tests and the console: numbers only. `firstPointMs` is on the page's own clock (performance.now), -1 before. */
interface Probe {
  runNumber: number;
  framesReceived: number;
  firstFrame: number;
  lastFrame: number;
  gaps: number;
  firstPointMs: number;
}

declare global {
  interface Window {
    __millrace?: Probe;
  }
}

export function followRun(id: string): { stop: () => void; tryNow: () => void } {
  let stopped = false;
  set({ ...blank });
  window.__millrace = { runNumber: 0, framesReceived: 0, firstFrame: -1, lastFrame: -1, gaps: 0, firstPointMs: -1 };

  const take = (batch: Frame[]): number | null => {
    const { log: next, missingFrom } = addFrames(useLiveRun.getState().log, batch);
    set({ log: next });
    const probe = window.__millrace;
    if (probe)
      Object.assign(probe, {
        framesReceived: next.frames.length,
        firstFrame: next.frames[0]?.n ?? -1,
        lastFrame: next.frames.at(-1)?.n ?? -1,
        gaps: next.gaps,
      });
    return missingFrom;
  };

  /** Reads pages from the first missing frame until there are no more. */
  const refill = async (): Promise<void> => {
    for (;;) {
      const after = nextNumber(useLiveRun.getState().log) - 1;
      const page = await get<{ frames: Frame[]; next: number | null }>(`/api/runs/${id}/frames?after=${after}&limit=${FRAMES_PER_PAGE}`);
      if (stopped) return;
      take(page.frames);
      if (page.next === null || !page.frames.length) return;
    }
  };

  let filling: Promise<void> | null = null;
  const fill = () => {
    filling ??= refill()
      .catch(() => undefined)
      .finally(() => {
        filling = null;
      });
    return filling;
  };

  const socket = new RunSocket(id, {
    after: () => nextNumber(useLiveRun.getState().log) - 1,
    onFrames: (frames) => {
      if (take(frames) !== null) void fill().then(() => take(frames));
    },
    // The stream's row has no document; the one at hand stays.
    onRun: (run) => set((state) => ({ run: { ...state.run, ...run } })),
    onEnd: () => {
      set({ complete: true });
      void reload();
    },
    onRefused: (reason) => set({ error: new Error(reason) }),
    onTrouble: (failures, retryIn_s) => set({ failures, retryIn_s }),
  });

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
      await refill();
      if (!stopped) set({ complete: true });
    } catch (error) {
      if (!stopped) set({ error });
    }
  })();

  const onVisibility = () => (document.hidden ? socket.pause() : socket.resume());
  document.addEventListener("visibilitychange", onVisibility);
  return {
    stop: () => {
      stopped = true;
      socket.close();
      document.removeEventListener("visibilitychange", onVisibility);
    },
    tryNow: () => socket.tryNow(),
  };
}

/** Virtual seconds shown now, or null for the head. */
export const momentOf = (state: Pick<LiveRun, "pinned_s" | "hovered_s">) => state.pinned_s ?? state.hovered_s;
