/** The frames of one run, in order and without a hole. */
import type { Frame } from "../api/types";

export interface FrameLog {
  /** Frame n stands at index n. */
  frames: Frame[];
  /** Number of messages that did not fit: the run is asked for again from `next`. */
  gaps: number;
}

export const emptyLog = (): FrameLog => ({ frames: [], gaps: 0 });
export const nextNumber = (log: FrameLog) => log.frames.length;

/**
 * Adds frames that follow on. Frames already there are skipped (a reconnect may repeat them).
 * `missingFrom` is the first number that is missing when the batch starts later than expected, else null.
 */
export function addFrames(log: FrameLog, batch: Frame[]): { log: FrameLog; missingFrom: number | null } {
  const fresh: Frame[] = [];
  let expected = log.frames.length;
  for (const frame of batch) {
    if (frame.n < expected) continue;
    if (frame.n > expected) {
      const kept = fresh.length ? [...log.frames, ...fresh] : log.frames;
      return { log: { frames: kept, gaps: log.gaps + 1 }, missingFrom: expected };
    }
    fresh.push(frame);
    expected += 1;
  }
  return { log: fresh.length ? { ...log, frames: [...log.frames, ...fresh] } : log, missingFrom: null };
}

/** The frame that covers a moment: the first that ends at or after it; the last one for later moments. */
export function frameAt(frames: Frame[], t_s: number): Frame | undefined {
  let low = 0;
  let high = frames.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((frames[middle] as Frame).t_s >= t_s - 1e-9) high = middle;
    else low = middle + 1;
  }
  return frames[low];
}
