import { describe, expect, it } from "vitest";
import { PAGE } from "../lib/page";
import { authorNow, authorThen } from "./authors";

describe("who saved an experiment", () => {
  const by = (author: string, editor = "", token = "") => ({ author, editor, token });

  it("is never somebody else when it was oneself in another tab", () => {
    expect(authorNow(by("ada", "other"), "ada")).toBe("You, in another tab");
    expect(authorNow(by("ada", PAGE), "ada")).toBe("You");
    expect(authorNow(by("ada", "", "nightly"), "ada")).toBe("You (token nightly)");
    expect(authorNow(by("ben", "other"), "ada")).toBe("ben");
    expect(authorNow(by("ben", "", "nightly"), "ada")).toBe("ben (token nightly)");
    expect(authorNow(by(""), "ada")).toBe("Someone");
  });

  it("is told without the tab of what is past", () => {
    expect(authorThen(by("ada", "an older tab"), "ada")).toBe("You");
    expect(authorThen(by("ada", "", "nightly"), "ada")).toBe("You (token nightly)");
    expect(authorThen(by("ben", "other"), "ada")).toBe("ben");
    expect(authorThen(by(""), "ada")).toBe("Earlier state");
  });
});
