import { describe, expect, it } from "vitest";
import { COMMANDS } from "./keys";

describe("keys", () => {
  it("do one thing each", () => {
    const keys = COMMANDS.map((command) => command.keys);
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  });
});
