import { describe, expect, it } from "vitest";
import { framesIn, goingOf, leftText, paceIn, paceRefusal, pauseRefusal, stepRefusal } from "./pace";

const run = (changes: object) => ({ state: "running", hold_at_frame: null, frames: 10, cancel_requested: false, ...changes }) as never;

describe("pace", () => {
  it("is read from what people type", () => {
    expect(paceIn("")).toEqual({ pace: null });
    expect(paceIn(" 0,5 ")).toEqual({ pace: 0.5 });
    expect(paceIn("1000")).toEqual({ pace: 1000 });
    for (const text of ["0", "0.05", "1001", "-1", "fast", "Infinity", "NaN"]) expect(paceIn(text), text).toHaveProperty("problem");
    expect([framesIn("1"), framesIn("100000"), framesIn("0"), framesIn("1.5"), framesIn("100001"), framesIn("")]).toEqual([
      1, 100_000, null, null, null, null,
    ]);
  });

  it("knows what the engine does with a run", () => {
    expect(goingOf(run({}))).toBe("on");
    expect(goingOf(run({ hold_at_frame: 0 }))).toBe("pausing");
    expect(goingOf(run({ hold_at_frame: 11 }))).toBe("stepping");
    expect(goingOf(run({ state: "queued", hold_at_frame: 11 }))).toBe("stepping");
    expect(goingOf(run({ state: "paused", hold_at_frame: 10 }))).toBe("paused");
    expect(goingOf(run({ state: "paused", cancel_requested: true }))).toBe("cancelling");
    expect(goingOf(run({ state: "failed" }))).toBe("over");
  });

  it("says why something cannot be asked", () => {
    expect([paceRefusal(run({})), pauseRefusal(run({})), stepRefusal(run({}))]).toEqual([null, null, "Pause the run, then step."]);
    expect([pauseRefusal(run({ hold_at_frame: 0 })), stepRefusal(run({ hold_at_frame: 0 }))]).toEqual(
      Array(2).fill("The run pauses within a second."),
    );
    expect([pauseRefusal(run({ hold_at_frame: 12 })), stepRefusal(run({ hold_at_frame: 12 }))]).toEqual([null, null]);
    expect(stepRefusal(run({ state: "paused", hold_at_frame: 10 }))).toBeNull();
    expect(stepRefusal(run({ state: "succeeded" }))).toBe("The run has ended.");
  });

  it("gives no time left while the query is compiled", () => {
    const started = { compiling: false, eta_s: 4860 };
    expect(leftText(run({ ...started, compiling: true }))).toBe("compiling this query: once, some 10 s");
    expect(leftText(run(started))).toBe("1 h 21 min left");
    expect(leftText(run({ ...started, eta_s: -1 }))).toBe("0.0 s left");
    expect(leftText(run({ ...started, eta_s: null }))).toBe("since the start");
    expect(leftText(run({ ...started, state: "queued" }))).toBe("since the start");
  });
});
