import { describe, expect, it } from "vitest";
import { changeText, relativeChange } from "./change";

describe("changes", () => {
  it("are relative to the baseline, whatever its sign, and none without one", () => {
    expect(relativeChange(10, 11)).toBeCloseTo(0.1);
    expect(relativeChange(-10, -5)).toBeCloseTo(0.5);
    expect(relativeChange(0, 0)).toBe(0);
    expect([relativeChange(0, 5), relativeChange(null, 5), relativeChange(5, null)]).toEqual([null, null, null]);
  });

  it("are told as per cent, as factors from three times on, and as none below a twentieth of a per cent", () => {
    expect([0.1, -0.25, 2, -0.75, 0.0004].map(changeText)).toEqual(["+10 %", "−25 %", "× 3", "÷ 4", "same"]);
  });
});
