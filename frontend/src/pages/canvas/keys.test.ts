import { describe, expect, it } from "vitest";
import { suggestCommand } from "./advice/SuggestButton";
import { COMMANDS } from "./keys";

/** What the application's own commands take (app/Keyboard.tsx). */
const TAKEN = ["Ctrl+K", "Ctrl+Shift+P", "?"];

const ALL = [...COMMANDS, suggestCommand(null)];

describe("commands of the canvas", () => {
  it("have a key each", () => {
    const keys = [...TAKEN, ...ALL.flatMap((command) => command.keys ?? [])];
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  });
  it("are called differently", () => {
    const names = ALL.map((command) => command.does);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
});
