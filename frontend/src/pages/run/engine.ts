/**
 * What is asked of the engine: pause, step, resume, pace. It holds for everybody who looks at the run, and shows when the run's row comes
 * back over the stream; playback has nothing to do with it.
 */
import { create } from "zustand";
import { post } from "../../api/client";
import type { Run } from "../../api/types";
import { goingOf } from "../../model/run/pace";
import { toast } from "../../ui/toasts";
import { useLiveRun } from "./liveRun";

/** How many frames a step makes. */
export const useStepFrames = create<{ frames: string }>(() => ({ frames: "1" }));

async function ask(action: string, body: object = {}): Promise<void> {
  const { run } = useLiveRun.getState();
  if (!run) return;
  try {
    const { note } = await post<Run>(`/api/runs/${run.id}/${action}`, body);
    if (note) toast(note, { tone: "warn", seconds: 12 });
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), { tone: "err" });
  }
}

export const pauseOrResume = () => {
  const { run } = useLiveRun.getState();
  if (run) void ask(goingOf(run) === "paused" ? "resume" : "pause");
};
export const makeFrames = (frames: number) => void ask("step", { frames });
export const setPace = (pace: number | null) => void ask("pace", { pace });
