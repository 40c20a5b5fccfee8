import { describe, expect, it } from "vitest";
import type { SelectedRuns } from "../../api/types";
import { ALL_RUNS, askLink, countText, endedText, fieldsIn, fieldsOf, listRefusal, newText, poolWarning, questionOf, selectionOf, stageOf, whyNot } from "./asking";

const addressIn = (link: string) => {
  const params = new URL(link, "http://lab").searchParams;
  const said = (name: string) => params.get(name) ?? "";
  return { runs: said("runs"), search: said("search"), state: said("state"), experiment: said("experiment"), study: said("study"), of_studies: said("of_studies"), tag: said("tag") };
};
const selected = (parts: Partial<SelectedRuns>): SelectedRuns => ({
  ...{ all: { runs: 3, bytes: 3e6 }, new: { runs: 2, bytes: 2e6 }, first_at: null, last_at: null },
  ...{ experiments: [{ id: "e", name: "Q1", runs: 3 }], experiment_count: 1 },
  ...parts,
});

describe("runs chosen on another page", () => {
  it("stay chosen through the address", () => {
    const runs = { ...ALL_RUNS, ids: ["a", "b"], search: "p99>10ms", experiment: "e", study: "s", of_studies: false, tag: "base", state: "failed" as const };
    expect(fieldsIn(addressIn(askLink(runs))).runs).toEqual(runs);
    expect(askLink({})).toBe("/analysis?ask=summaries");
  });
  it("are the start of both sides, without the search", () => {
    const { runs, against } = fieldsIn(addressIn(askLink({ ids: ["a"], search: "x" })));
    expect([runs.ids, runs.search, against.ids, against.search]).toEqual([["a"], "x", ["a"], ""]);
  });
  it("come back with a question that is asked again", () => {
    const runs = { ...ALL_RUNS, ids: ["a"] };
    const against = { ...ALL_RUNS, tag: "base" };
    const fields = fieldsOf({ kind: "comparison", runs, against, metrics: ["p99_ms", "out_per_s"], span: { from_s: 2.5, to_s: null, factor: 2 } });
    expect(questionOf("comparison", fields)).toEqual({ kind: "comparison", runs, against, metrics: ["p99_ms", "out_per_s"], span: { from_s: 2.5, to_s: null, factor: 2 } });
  });
});

it("only ended runs of the list can be asked about", () => {
  expect(["running", "queued", "paused"].map(listRefusal)).toEqual(Array(3).fill("Only ended runs can be analysed"));
  expect(["", "succeeded", "failed"].map(listRefusal)).toEqual(["", "", ""]);
});

describe("what is read", () => {
  const now = new Date("2026-03-05T12:00:00");
  it("is told before it is asked for", () => {
    expect(countText(selected({}), "succeeded")).toBe("3 succeeded runs of Q1");
    expect(countText(selected({ experiment_count: 4 }), "failed")).toBe("3 failed runs of 4 experiments");
    expect(countText(selected({ all: { runs: 0, bytes: 0 } }), "succeeded")).toBe("No succeeded run matches.");
    expect(endedText(selected({ first_at: "2026-03-05T09:00:00", last_at: "2026-03-05T11:30:00" }), now)).toBe("ended 09:00 to 11:30");
    expect(newText({ runs: 2, bytes: 2e6 }, 3)).toBe("2 new, about 2 MB to read");
    expect(newText({ runs: 3, bytes: null }, 3)).toBe("all new");
    expect(newText({ runs: 0, bytes: 0 }, 3)).toBe("all read before");
  });
  it("is of one side, or of both", () => {
    const fields = { ...fieldsIn(addressIn(askLink({ search: " a " }))), to: "soon" };
    expect(selectionOf("summaries", fields)).toEqual({ runs: { ...ALL_RUNS, search: "a" }, span: { from_s: null, to_s: null } });
    expect(selectionOf("comparison", fields).against).toEqual(ALL_RUNS);
  });
  it("is warned of where experiments are mixed, with the way out", () => {
    const mixed = selected({ experiment_count: 5 });
    expect(poolWarning("summaries", "experiment", ALL_RUNS, mixed)).toBe("The percentiles of all samples together mix 5 experiments. Read only one of them, or ask for statistics by experiment.");
    expect(poolWarning("comparison", "experiment", ALL_RUNS, mixed)).toContain("This side mixes 5 experiments.");
    expect(poolWarning("statistics", "per_s", ALL_RUNS, mixed)).toContain("Each group mixes");
    expect(poolWarning("statistics", "experiment", ALL_RUNS, mixed)).toBe("");
    expect(poolWarning("summaries", "", ALL_RUNS, selected({}))).toBe("");
    expect(poolWarning("summaries", "", { ...ALL_RUNS, study: "s" }, mixed), "its runs are of one document").toBe("");
  });
});

describe("a question", () => {
  const fields = fieldsIn(addressIn("/analysis"));
  it("says why it cannot be asked", () => {
    expect(whyNot("summaries", fields)).toBe("");
    expect(whyNot("summaries", { ...fields, from: "soon" })).toContain("enter a number of seconds");
    expect(whyNot("surface", fields)).toBe("Enter both parameters.");
    expect(whyNot("comparison", fields)).toContain("choose another base");
    expect(whyNot("comparison", { ...fields, against: { ...ALL_RUNS, experiment: "e" } })).toBe("");
  });
  it("tells how far its answer is", () => {
    expect(stageOf({ progress: 0, runs: null, read: null }).title).toBe("Selecting the runs");
    expect(stageOf({ progress: 0.25, runs: 30, read: 20 })).toEqual({ title: "5 of 20 new runs read", share: 0.25 });
    expect(stageOf({ progress: 1, runs: 30, read: 20 }).title).toBe("Computing the answer from 30 runs");
  });
});
