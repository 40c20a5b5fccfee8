import { beforeEach, describe, expect, it } from "vitest";
import { moveOperators, patchOperator, placeEach } from "../../model/document/edits";
import { smallDocument } from "../../model/document/testing";
import { drawnPlacement, edit, openExperiment, redo, undo, UNDO_STEPS_MAX, useEditor } from "./editor";

const STEPS = 150;
const SAVED_AT = "2024-01-01T00:00:00Z";
const SAVED = { number: 1, author: "ada", token: "", editor: "", saved_at: SAVED_AT };
const instances = () => useEditor.getState().document.query.operators.find((operator) => operator.id === "sink")?.parallelism;

describe("undo", () => {
  beforeEach(() => openExperiment({ id: "e", version: 1, document: smallDocument() as never, problems: [], updated_at: SAVED_AT, saved: SAVED }));

  it("takes back a hundred and more steps, and makes them again", () => {
    expect(UNDO_STEPS_MAX).toBeGreaterThanOrEqual(STEPS);
    for (let step = 1; step <= STEPS; step += 1) edit((before) => patchOperator(before, "sink", { parallelism: 1 + step }));
    for (let step = 0; step < STEPS; step += 1) undo();
    expect(instances()).toBe(1);
    expect(useEditor.getState().save).toBe("dirty");
    for (let step = 0; step < STEPS; step += 1) redo();
    expect(instances()).toBe(1 + STEPS);
  });

  it("knows a drag, and a word that is typed, as one step; what changes nothing is none", () => {
    edit((before) => moveOperators(before, { sink: { x: 8, y: 8 }, join: { x: 0, y: 8 } }));
    for (const name of ["a", "ab", "abc"]) edit((before) => ({ ...before, name }), "/name");
    edit((before) => before);
    undo();
    expect(useEditor.getState().document.name).toBe("small");
    undo();
    expect(useEditor.getState().document.ui?.positions).toEqual({ persons: { x: 0, y: 0 } });
    expect(useEditor.temporal.getState().pastStates).toHaveLength(0);
  });

  it("takes an applied placement back, and knows nothing of a preview, which any edit ends", () => {
    const ids = useEditor.getState().document.query.operators.map(({ id }) => id);
    const on = (host: string) => Object.fromEntries(ids.map((id) => [id, host]));
    useEditor.setState({ preview: { hosts: { sink: ["gateway"] }, label: "" } });
    expect(drawnPlacement(useEditor.getState()).sink).toEqual(["gateway"]);
    expect(useEditor.temporal.getState().pastStates).toHaveLength(0);
    edit((before) => placeEach(before, on("w2")));
    expect(useEditor.getState().preview).toBeNull();
    expect(drawnPlacement(useEditor.getState()).sink).toEqual(["w2"]);
    useEditor.setState({ preview: { hosts: { sink: ["gateway"] }, label: "" } });
    undo();
    expect(useEditor.getState().document.placement).toEqual({ kind: "spread" });
    expect(useEditor.getState().preview).toBeNull();
  });
});
