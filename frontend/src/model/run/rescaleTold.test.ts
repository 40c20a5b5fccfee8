import { describe, expect, it } from "vitest";
import type { RescaleAction } from "../../api/types";
import { backlogTold, downTold, drainTold, movedTold } from "./rescaleTold";
import { NO_SOURCE, RUN_ENDED } from "./scaling";

const DONE: RescaleAction = {
  number: 1,
  kind: "stop_and_restart",
  who: "policy",
  ordered_s: 735,
  stopped_s: 736,
  drained_s: 737,
  stored_s: 738,
  arranged_s: 740,
  restored_s: 742,
  ended_s: 746,
  before: { window: 20 },
  after: { window: 24 },
  state_bytes: 4e6,
  moved_bytes: 2e6,
  lag_before: 100,
  lag_after: 1600,
  outcome: "done",
  why: "",
};
const UNDER_WAY: RescaleAction = {
  ...DONE,
  drained_s: null,
  stored_s: null,
  arranged_s: null,
  restored_s: null,
  ended_s: null,
  moved_bytes: null,
  lag_after: null,
  outcome: "",
};
const ABORTED: RescaleAction = { ...UNDER_WAY, outcome: "aborted" };

describe("what is said of a rescale", () => {
  it("is a number once there is one", () => {
    expect(downTold(DONE, false)).toEqual({ text: "10 s", why: "" });
    expect(backlogTold(DONE, false)).toEqual({ text: "+1,500", why: "" });
    expect(movedTold(DONE)).toEqual({ text: "2 MB", why: "" });
    expect(drainTold({ seconds: 10, why: "" })).toEqual({ text: "10 s", why: "" });
  });

  it("is a dash and why, where none can come any more", () => {
    expect(downTold(UNDER_WAY, true)).toEqual({ text: "–", why: RUN_ENDED });
    expect(downTold(ABORTED, false)).toEqual({ text: "–", why: "It did not resume" });
    expect(downTold({ ...ABORTED, stopped_s: null }, false)).toEqual({ text: "–", why: NO_SOURCE });
    expect(backlogTold(ABORTED, false)).toEqual({ text: "–", why: "It did not resume" });
    expect(movedTold(ABORTED)).toEqual({ text: "–", why: "No savepoint was written" });
    expect(drainTold({ seconds: null, why: "not yet" })).toEqual({ text: "–", why: "not yet" });
  });

  it("says while it goes on that it does", () => {
    expect(downTold(UNDER_WAY, false)).toEqual({ text: "in progress", why: "" });
    expect(backlogTold(UNDER_WAY, false)).toEqual({ text: "–", why: "It has not resumed yet" });
    expect(backlogTold(UNDER_WAY, true)).toEqual({ text: "–", why: RUN_ENDED });
  });
});
