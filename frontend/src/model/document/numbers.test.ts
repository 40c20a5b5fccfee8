import { describe, expect, it } from "vitest";
import { readNumber, stepNumber } from "./numbers";

describe("a number as people type it", () => {
  it("is read in full or not at all", () => {
    for (const [text, number] of [["5", 5], [" 1.5 ", 1.5], ["-.5", -0.5], ["1.", 1], ["2e3", 2000], ["+4", 4]] as const)
      expect(readNumber(text)).toEqual({ number });
    expect(readNumber("  ")).toEqual({ number: null });
  });

  it("is refused with what was typed, and with what may have been meant", () => {
    expect(readNumber("1,5")).toEqual({ problem: "1,5 is not a number; write 1.5." });
    expect(readNumber("12,000")).toEqual({ problem: "12,000 is not a number; write 12000." });
    for (const text of ["abc", "1,5,2", "0x10", "Infinity", "NaN", "1 000", "-", "1e"])
      expect(readNumber(text)).toEqual({ problem: `${text} is not a number.` });
    expect(readNumber("1e400")).toEqual({ problem: "1e400 is too large for a number." });
  });

  it("steps within its bounds, without binary noise", () => {
    expect(stepNumber(0.1, 1)).toBe(1.1);
    expect(stepNumber(1.1, -1)).toBe(0.1);
    expect(stepNumber(1, -1, 1)).toBe(1);
    expect(stepNumber(4, 1, 1, 4)).toBe(4);
  });
});
