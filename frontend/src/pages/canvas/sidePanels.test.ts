import { describe, expect, it } from "vitest";
import { NOTHING } from "./editor";
import { oneSide, type SideState } from "./sidePanels";

const palette: SideState = { paletteOpen: true, inspectorOpen: false, selection: NOTHING };
const inspector: SideState = { ...palette, paletteOpen: false, inspectorOpen: true };
const chosen = { ...NOTHING, operators: ["sink"] };

describe("one side panel", () => {
  it("keeps the one opened last", () => {
    expect(oneSide({ ...palette, inspectorOpen: true }, palette, false)).toEqual({ paletteOpen: false, inspectorOpen: true });
    expect(oneSide({ ...inspector, paletteOpen: true }, inspector, false)).toEqual({ paletteOpen: true, inspectorOpen: false });
  });

  it("shows what is chosen on the stage, but leaves the palette open while operators are added", () => {
    expect(oneSide({ ...palette, selection: chosen }, palette, false)).toEqual({ paletteOpen: false, inspectorOpen: true });
    expect(oneSide({ ...palette, selection: chosen }, palette, true)).toBeNull();
    expect(oneSide(palette, { ...palette, selection: chosen }, false)).toBeNull();
  });

  it("leaves two folded panels alone", () => {
    const folded = { ...palette, paletteOpen: false };
    expect(oneSide({ ...folded, selection: chosen }, folded, false)).toBeNull();
  });
});
