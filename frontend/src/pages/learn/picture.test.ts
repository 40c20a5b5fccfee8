import { describe, expect, it } from "vitest";
import type { Explained, LessonStep, MessageArrow, SpaceTimeDiagram } from "../../api/types";
import { arrowOf, knownAt, layoutOf, legendOf, messageState, stateOf, ticksOf } from "./picture";

const step: LessonStep = {
  title: "t", text: "t", act: null, verdict: "", line: ["0:1"], marked: [], discarded: [], useless: [], focus: [], orphans: [], in_flight: [],
  stored: [], lost: [], aside: [], told: [], edges: [], table: null,
};
const message: MessageArrow = {
  name: "m1", kind: "record", sender: 0, receiver: 2, sent_at: 1, sent_act: 1, arrives_at: 3, arrives_act: 4, processed_at: 3, processed_act: 4,
};
const diagram: SpaceTimeDiagram = {
  instances: ["A", "B", "C"], first: 0, last: 4, unit: "", messages: [message], waits: [], bars: [],
  checkpoints: [{ id: "0:1", instance: 0, index: 1, name: "c11", at: 2, act: 2, kind: "basic" }],
};

describe("a space-time diagram", () => {
  it("gives each instance a row and scrolls where rows or columns would be too narrow", () => {
    const layout = layoutOf(diagram, 600, 300);
    expect(layout.y(1) - layout.y(0)).toBeCloseTo(layout.y(2) - layout.y(1));
    expect(layout.x(4)).toBe(layout.right);
    const many = layoutOf({ ...diagram, instances: Array.from({ length: 30 }, (_, i) => `I${i}`) }, 600, 300);
    expect(many.height).toBeGreaterThan(300);
    expect(layoutOf({ ...diagram, last: 100 }, 600, 300).width).toBeGreaterThan(600);
  });

  it("draws a message under way no further than between two rows", () => {
    const layout = layoutOf(diagram, 600, 300);
    const here = arrowOf(message, { ...step, act: 2 }, layout);
    expect(here.arrived).toBe(false);
    expect(here.y2).toBeCloseTo((layout.y(0) + layout.y(1)) / 2);
    expect(arrowOf(message, { ...step, act: 4 }, layout)).toMatchObject({ arrived: true, y2: layout.y(2) });
  });

  it("tells states apart; what is marked comes before what is in the line", () => {
    expect(stateOf("0:1", step)).toBe("line");
    expect(stateOf("0:1", { ...step, marked: ["0:1"] })).toBe("marked");
    expect(messageState("m1", { ...step, told: ["m1"], orphans: ["m1"] })).toBe("orphan");
    expect(messageState("m2", step)).toBe("");
  });

  it("has a legend of what its steps show, and says it in words", () => {
    const told: Explained = { name: "", text: "", shows: "rollback", heading: "h", diagram, left_out: 0, steps: [step, { ...step, orphans: ["m1"] }] };
    expect(legendOf(told).map(({ label }) => label)).toEqual(["checkpoint", "in the line", "orphan"]);
    expect(knownAt(told, step)).toEqual([["Line", ["c11"]]]);
  });

  it("has round ticks", () => {
    expect(ticksOf(0, 48, 6)).toEqual([0, 10, 20, 30, 40]);
    expect(ticksOf(11.2, 12.1, 5)).toEqual([11.2, 11.4, 11.6, 11.8, 12]);
  });
});
