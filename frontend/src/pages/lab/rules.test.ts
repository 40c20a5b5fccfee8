import { expect, test } from "vitest";
import { ruleOf, sentence } from "./rules";

test("a rule says what it removes and what it keeps", () => {
  const usual = { what: "frames", days: 30, bytes: null, kept_tags: null } as const;
  expect(sentence(usual)).toBe("Frames of runs older than 30 days, except runs with a tag or note.");
  expect(sentence({ ...usual, what: "runs", days: null, bytes: 5e9, kept_tags: ["paper", "demo"] })).toBe(
    "Runs, oldest first, while all take more than 5 GB, except runs with a note or the tag paper or demo.",
  );
  expect(sentence({ ...usual, days: 1, kept_tags: [] })).toBe("Frames of runs older than 1 day, except runs with a note.");
  expect(sentence({ ...usual, what: "datasets" })).toBe("Data sets that no experiment uses older than 30 days.");
});

test("the fields of the form make a rule, or say what is wrong", () => {
  expect(ruleOf("frames", "days", "30", "")).toEqual({ what: "frames", days: 30, bytes: null, kept_tags: null });
  expect(ruleOf("runs", "bytes", "0.5", "paper, demo,")).toEqual({ what: "runs", days: null, bytes: 5e8, kept_tags: ["paper", "demo"] });
  expect(ruleOf("datasets", "days", "7", "paper")).toEqual({ what: "datasets", days: 7, bytes: null, kept_tags: null });
  for (const bad of ["", "0", "1.5", "x", "36501"]) expect(ruleOf("frames", "days", bad, "")).toBe("Days must be a whole number from 1 to 36,500.");
  for (const bad of ["", "-1", "x"]) expect(ruleOf("frames", "bytes", bad, "")).toBe("The size must be a number of GB.");
});
