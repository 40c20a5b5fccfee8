/** The run page's keys. Arrows belong to what has the focus (charts, tabs, the slider); these work everywhere on the page. */
import { isActive, isMoving } from "../../api/queries";
import type { Run } from "../../api/types";
import { framesIn, PACES, paceRefusal, paceText, pauseRefusal, stepRefusal } from "../../model/run/pace";
import { zoomed, type Span } from "../../model/run/series";
import type { Command } from "../../session/commands";
import { makeFrames, pauseOrResume, setPace, useStepFrames } from "./engine";
import { useLiveRun } from "./liveRun";
import { follow, freeze, replay } from "./playback";

const ZOOM_FRAMES_MIN = 4;

/** Moves the moment by frames, and holds it. */
export function step(frames: number): void {
  const { log, pinned_s } = useLiveRun.getState();
  if (!log.count) return;
  const n = Math.max(0, Math.min(log.count - 1, log.numberAt(pinned_s ?? log.head_s) + frames));
  useLiveRun.setState({ pinned_s: log.timeOf(n), playing: false });
}

/** Shows less (factor below 1) or more around the moment. */
export function zoomBy(factor: number): void {
  const { log, zoom, pinned_s, run } = useLiveRun.getState();
  if (!log.count) return;
  const whole: Span = { from_s: 0, to_s: Math.max(run?.horizon_s ?? 0, log.head_s) };
  const span = zoom ?? whole;
  const around_s = Math.min(span.to_s, Math.max(span.from_s, pinned_s ?? log.head_s));
  useLiveRun.setState({ zoom: zoomed(span, factor, around_s, whole, ZOOM_FRAMES_MIN * log.timeOf(0)) });
}

export function freezeOrReplay(): void {
  const { playing, pinned_s, run } = useLiveRun.getState();
  if (playing || (pinned_s === null && run && isMoving(run))) freeze();
  else replay();
}

const noFrame = () => (useLiveRun.getState().log.count ? null : "No frame yet.");
const command = (does: string, keys: string[], run: () => void): Command => ({ does, group: "View", keys, run, refusal: noFrame });
const click = (id: string) => document.querySelector<HTMLButtonElement>(`[data-testid="${id}"]`)?.click();

export const RUN_COMMANDS: Command[] = [
  command("Freeze the view, or replay from here", ["K"], freezeOrReplay),
  command("One frame back", [","], () => step(-1)),
  command("One frame forward", ["."], () => step(1)),
  command("Follow the run", ["Escape", "L"], follow),
  command("Zoom the charts in", ["+", "="], () => zoomBy(0.5)),
  command("Zoom the charts out", ["-"], () => zoomBy(2)),
  command("Show all of the run", ["0"], () => useLiveRun.setState({ zoom: null })),
  { does: "Pause or resume the run for everyone", group: "Run", needs: "write", keys: ["P"], run: pauseOrResume, refusal: () => ofRun(pauseRefusal) },
  { does: "Step: run some frames, then pause", group: "Run", needs: "write", keys: ["S"], run: stepRun, refusal: () => ofRun(stepRefusal) },
  ...PACES.map((pace) => ({
    does: `Pace: ${paceText(pace)}`,
    group: "Run",
    needs: "write" as const,
    run: () => setPace(pace),
    refusal: () => ofRun(paceRefusal),
    onlyWhenSearched: true,
  })),
  { does: "Run again", group: "Run", needs: "write", keys: ["Ctrl+Enter"], run: () => click("rerun") },
  { does: "Cancel the run", group: "Run", needs: "write", run: () => click("cancel"), refusal: () => ofRun((run) => (isActive(run) ? null : "The run has ended.")) },
];

function stepRun(): void {
  makeFrames(framesIn(useStepFrames.getState().frames) ?? 1);
}

function ofRun(refusal: (run: Run) => string | null): string | null {
  const { run } = useLiveRun.getState();
  return run ? refusal(run) : "The run has ended.";
}
