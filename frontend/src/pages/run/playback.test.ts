import { beforeEach, describe, expect, it } from "vitest";
import type { Frame, Run } from "../../api/types";
import { FrameLog } from "../../model/run/frames";
import { freezeOrReplay } from "./keys";
import { useLiveRun } from "./liveRun";
import { follow, viewSays } from "./playback";

const run = (state: Run["state"]) => ({ state }) as Run;
const view = () => {
  const { pinned_s, playing } = useLiveRun.getState();
  return { pinned_s, playing };
};

describe("the view of a run", () => {
  beforeEach(() => {
    const log = new FrameLog();
    log.add([0, 1, 2, 3].map((n) => ({ n, t_s: 0.25 * (n + 1) }) as Frame));
    useLiveRun.setState({ log, count: log.count, pinned_s: null, playing: false, run: run("running") });
  });

  it("is frozen, replayed and follows again; the run is left alone", () => {
    const { log } = useLiveRun.getState();
    freezeOrReplay();
    expect(view()).toEqual({ pinned_s: log.head_s, playing: false });
    freezeOrReplay();
    expect(view()).toEqual({ pinned_s: log.head_s, playing: true });
    follow();
    expect(view()).toEqual({ pinned_s: null, playing: false });
    expect(useLiveRun.getState().run).toEqual(run("running"));
  });

  it("is replayed from the start where nothing more comes", () => {
    for (const state of ["paused", "succeeded"] as const) {
      useLiveRun.setState({ pinned_s: null, playing: false, run: run(state) });
      freezeOrReplay();
      expect(view()).toEqual({ pinned_s: useLiveRun.getState().log.timeOf(0), playing: true });
    }
  });

  it("says in words what it does", () => {
    const says = (state: Run["state"], pinned_s: number | null, playing = false) => viewSays({ run: run(state), pinned_s, playing, speed: 2 });
    expect(says("running", null)).toBe("follows the run");
    expect(says("succeeded", null)).toBe("end of the run");
    expect(says("running", 1)).toBe("view frozen");
    expect(says("paused", 1, true)).toBe("replay, 2 ×");
  });
});
