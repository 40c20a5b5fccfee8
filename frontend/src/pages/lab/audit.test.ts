import { expect, test } from "vitest";
import { inWords, linkOf } from "./audit";

test("what is done is told in words, also what this page does not know yet", () => {
  expect(inWords("runs.cancel")).toBe("cancelled");
  expect(inWords("runs.start")).toBe("started a run of");
  expect(inWords("experiments.delete")).toBe("deleted");
  expect(inWords("studies.retry")).toBe("retried the study");
  expect(inWords("datasets.restore")).toBe("restored the data set");
  expect(inWords("models.train")).toBe("trained models");
});

test("a link leads to what is still there", () => {
  expect(linkOf({ action: "runs.cancel", subject: "run 3", subject_id: "a" })).toBe("/runs/a");
  expect(linkOf({ action: "runs.start", subject: "Q3", subject_id: "b" })).toBe("/experiments/b");
  expect(linkOf({ action: "runs.start", subject: "run 3", subject_id: "a" })).toBe("/runs/a");
  expect(linkOf({ action: "experiments.delete", subject: "Q3", subject_id: "b" })).toBeNull();
  expect(linkOf({ action: "people.change", subject: "mary", subject_id: "1" })).toBeNull();
});
