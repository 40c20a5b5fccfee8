import type { NodeChange } from "@xyflow/react";
import { describe, expect, it } from "vitest";
import { NOTHING } from "../editor";
import { selectionWith } from "./flowSelection";

const chosen = (id: string, selected = true): NodeChange => ({ id, type: "select", selected });

describe("what the flow selects", () => {
  it("joins what is selected, and leaves the other part alone", () => {
    const before = { ...NOTHING, operators: ["join"], edges: ["join.out>sink.in"] };
    expect(selectionWith(before, "operators", [chosen("sink")])).toEqual({ operators: ["join", "sink"], edges: before.edges });
    expect(selectionWith(before, "operators", [chosen("join", false)])).toEqual({ operators: [], edges: before.edges });
  });

  it("is no change when it was selected already, or only moved", () => {
    const before = { ...NOTHING, operators: ["join"] };
    expect(selectionWith(before, "operators", [chosen("join"), chosen("sink", false)])).toBeNull();
    expect(selectionWith(before, "operators", [{ id: "sink", type: "position", position: { x: 0, y: 0 } }])).toBeNull();
  });

  it("takes the place of a host; letting go of the last operator keeps it", () => {
    expect(selectionWith({ ...NOTHING, host: 1 }, "operators", [chosen("join")])).toEqual({ operators: ["join"], edges: [] });
    expect(selectionWith({ ...NOTHING, operators: ["join"], host: 1 }, "operators", [chosen("join", false)])).toEqual({ host: 1, fault: null });
  });
});
