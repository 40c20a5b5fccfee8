import { describe, expect, it } from "vitest";
import { isOpenBoolean } from "./shapes";

describe("a boolean", () => {
  it("is a choice of three where no default stands for it", () => {
    expect(isOpenBoolean({ type: "boolean" })).toBe(true);
    expect(isOpenBoolean({ type: "boolean", default: false })).toBe(false);
    expect(isOpenBoolean({ type: "string" })).toBe(false);
  });
});
