import { beforeEach, describe, expect, it } from "vitest";
import { RUN_COMMANDS } from "./keys";
import { useLiveRun } from "./liveRun";

describe("commands of a run's page", () => {
  beforeEach(() => useLiveRun.setState(useLiveRun.getInitialState(), true));

  it("have a key each, and names of their own", () => {
    const keys = ["Ctrl+K", "Ctrl+Shift+P", "?", ...RUN_COMMANDS.flatMap((command) => command.keys ?? [])];
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
    expect(new Set(RUN_COMMANDS.map((command) => command.does)).size).toBe(RUN_COMMANDS.length);
  });

  it("say why they cannot be done", () => {
    const refusals = RUN_COMMANDS.map((command) => command.refusal?.());
    expect(refusals).toContain("No frame yet.");
    expect(refusals).toContain("The run has ended.");
  });
});
