import { describe, expect, it } from "vitest";
import type { FaultMark } from "../document/faults";
import { notesOf } from "./notes";
import { placesIn } from "./place";

const SPAN = { from_s: 10, to_s: 30 };

describe("places on a stretch", () => {
  it("are shares of it, and end at its edges", () => {
    const { place, share, wide } = placesIn(SPAN);
    expect([place(10), place(15), place(40)]).toEqual([0, 0.25, 1.5]);
    expect([share(0), share(15), share(40)]).toEqual(["0.0000%", "25.0000%", "100.0000%"]);
    expect([wide(0, 15), wide(15, 25), wide(25, 40), wide(40, 50)]).toEqual(["25.0000%", "50.0000%", "25.0000%", "0.0000%"]);
  });
});

describe("notes on charts", () => {
  const fault = (start_s: number, text = "w1 lost"): FaultMark => ({ start_s, end_s: start_s + 1, forEver: false, text, host: "w1" });
  const none = { warmup_s: 0, head_s: 30, finished: true, faults: [] };

  it("say where warm-up is, and what is not simulated, where there is room for it", () => {
    expect(notesOf(SPAN, none)).toEqual([]);
    expect(notesOf(SPAN, { ...none, warmup_s: 20 })).toEqual([{ text: "warm-up", left: "25.0000%", kind: "low" }]);
    expect(notesOf(SPAN, { ...none, warmup_s: 11 })).toEqual([]);
    expect(notesOf(SPAN, { ...none, head_s: 20, finished: false })).toEqual([{ text: "not simulated yet", left: "75.0000%", kind: "low" }]);
    expect(notesOf(SPAN, { ...none, head_s: 0 })).toEqual([{ text: "not simulated", left: "50.0000%", kind: "low" }]);
  });

  it("name faults in lines one below the other, as many as there are lines", () => {
    const notes = notesOf(SPAN, { ...none, faults: [fault(12), fault(12.1), fault(12.2), fault(12.3), fault(28)] });
    expect(notes.map(({ left, top }) => [left, top])).toEqual([
      ["10.0000%", 4],
      ["10.5000%", 22],
      ["11.0000%", 40],
      ["90.0000%", 4],
    ]);
  });
});
