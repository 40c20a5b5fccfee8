import { describe, expect, it } from "vitest";
import { readValue, readValues, writeValue, writeValues } from "./values";

describe("values as text", () => {
  it("are read as they are written", () => {
    const values = [1, 2.5, "on", "two words", true, null, { kind: "credits", per_channel: 8 }, [{ at_s: 48 }]];
    expect(readValues(writeValues(values))).toEqual(values);
    for (const value of values) expect(readValue(writeValue(value))).toEqual(value);
  });

  it("are one where one is wanted", () => {
    expect(() => readValue("1, 2")).toThrow("Enter one value");
    expect(() => readValue("")).toThrow("Enter one value");
  });
});
