/** How fast and how far a run goes, as people say it. What the numbers mean: docs/web-api.md. */
import type { Run } from "../../api/types";
import { duration } from "../../lib/format";

/** Virtual seconds a second that are offered; null: as fast as possible. Others can be typed in. */
export const PACES: (number | null)[] = [null, 0.1, 0.5, 1, 2, 10, 100];
export const PACE_MIN = 0.1;
export const PACE_MAX = 1000;
export const STEP_FRAMES_MAX = 100_000;

export const paceText = (pace: number | null) => (pace === null ? "as fast as possible" : `${pace} × real time`);

/** The pace that a text means, empty: as fast as possible; or what is wrong with it. */
export function paceIn(text: string): { pace: number | null } | { problem: string } {
  if (text.trim() === "") return { pace: null };
  const pace = Number(text.replace(",", "."));
  if (Number.isFinite(pace) && pace >= PACE_MIN && pace <= PACE_MAX) return { pace };
  return { problem: `A pace is ${PACE_MIN} to ${PACE_MAX} virtual seconds per second; empty: as fast as possible` };
}

/** Frames of a step, or null when the text is not such a number. */
export function framesIn(text: string): number | null {
  const frames = /^\d{1,6}$/.test(text.trim()) ? Number(text) : 0;
  return frames >= 1 && frames <= STEP_FRAMES_MAX ? frames : null;
}

type Paced = Pick<Run, "state" | "hold_at_frame" | "frames" | "cancel_requested">;
export type Going = "over" | "cancelling" | "on" | "pausing" | "stepping" | "paused";

/** What the engine does with the run. */
export function goingOf(run: Paced): Going {
  if (run.state !== "queued" && run.state !== "running" && run.state !== "paused") return "over";
  if (run.cancel_requested) return "cancelling";
  if (run.state === "paused") return "paused";
  const hold = run.hold_at_frame ?? null;
  if (hold === null) return "on";
  return hold > (run.frames ?? 0) ? "stepping" : "pausing";
}

const OVER: Partial<Record<Going, string>> = { over: "The run has ended.", cancelling: "The run is being cancelled." };

/** Why something cannot be asked of the engine now; null when it can. */
export const paceRefusal = (run: Paced): string | null => OVER[goingOf(run)] ?? null;
export const pauseRefusal = (run: Paced): string | null =>
  paceRefusal(run) ?? (goingOf(run) === "pausing" ? "The run pauses within a second." : null);
export const stepRefusal = (run: Paced): string | null => {
  const going = goingOf(run);
  return going === "on" ? "Pause the run, then step." : going === "stepping" ? null : pauseRefusal(run);
};

/** What is left of a run in progress. While its query is compiled, no virtual time passes. */
export function leftText(run: Pick<Run, "compiling" | "state" | "eta_s">): string {
  if (run.compiling) return "compiling this query: once, some 10 s";
  if (run.state === "running" && typeof run.eta_s === "number") return `${duration(Math.max(0, run.eta_s))} left`;
  return "since the start";
}
