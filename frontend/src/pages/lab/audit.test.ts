import { expect, test } from "vitest";
import { inWords, linkOf } from "./audit";

test("what is done is told in words", () => {
  expect(inWords("runs.cancel")).toBe("cancelled");
  expect(inWords("runs.baseline.delete")).toBe("unpinned as the baseline");
  expect(inWords("figures.reproductions")).toBe("reproduced the figure");
  expect(inWords("models.train")).toBe("models.train");
});

test("a link leads to what is still there", () => {
  expect(linkOf({ action: "runs.cancel", subject: "run 3", subject_id: "a" })).toBe("/runs/a");
  expect(linkOf({ action: "runs.start", subject: "Q3", subject_id: "b" })).toBe("/experiments/b");
  expect(linkOf({ action: "runs.start", subject: "run 3", subject_id: "a" })).toBe("/runs/a");
  expect(linkOf({ action: "experiments.delete", subject: "Q3", subject_id: "b" })).toBeNull();
  expect(linkOf({ action: "people.change", subject: "mary", subject_id: "1" })).toBeNull();
});
