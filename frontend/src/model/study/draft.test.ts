import { describe, expect, it } from "vitest";
import type { Problem } from "../../api/types";
import { complete, experimentName, firstDraft, isFirst, partOf, upTo, whyNot } from "./draft";
import type { StudyDocument } from "./study";

const STUDY = { format: 1, name: "s", experiment: { name: "Join" }, seeds: [1], axes: [] } as unknown as StudyDocument;
const problem = (pointer: string): Problem => ({ severity: "error", code: "c", pointer, message: "Give a value.", hint: "" }) as never;

describe("a study before it starts", () => {
  it("takes its experiment from its origin, but that of another study with it", () => {
    expect(firstDraft({ kind: "experiment", id: "e" }, STUDY)).not.toHaveProperty("experiment");
    expect(firstDraft({ kind: "study", id: "s" }, STUDY)).toBe(STUDY);
    expect(firstDraft(null, STUDY)).toBe(STUDY);
    expect(experimentName(STUDY)).toBe("Join");
    expect(experimentName({ ...STUDY, experiment: {} } as never)).toBe("an experiment without a name");
  });

  it("gives a design what it cannot be without, and keeps what was chosen", () => {
    expect(complete({ kind: "grid" })).toEqual({ kind: "grid" });
    expect(complete({ kind: "random" })).toEqual({ kind: "random", points: 20 });
    expect(complete({ kind: "random", points: 7 })).toEqual({ kind: "random", points: 7 });
    expect(complete({ kind: "optimise", objectives: [] })).toEqual({ kind: "optimise", trials: 40, objectives: [{ metric: "latency_ms.p99" }] });
  });

  it("shows what is wrong within a list that is one line at the list", () => {
    expect(upTo("/seeds")(problem("/seeds/2")).pointer).toBe("/seeds");
    expect(upTo("/seeds")(problem("/axes/0")).pointer).toBe("/axes/0");
  });

  it("knows the first seeds, and the parts of a schema", () => {
    expect([isFirst([1, 2, 3], 3), isFirst([1, 3], 2), isFirst([1], 3)]).toEqual([true, false, false]);
    expect(partOf({ $defs: { Axis: { type: "object" } } }, "Axis")).toEqual({ type: "object", $defs: { Axis: { type: "object" } } });
  });

  it("says why it cannot start, the nearest reason first", () => {
    const can = { errors: [], fresh: true, lost: "", starting: false, asks: true };
    expect(whyNot(can)).toBe("");
    expect(whyNot({ ...can, asks: false })).toMatch(/single run/);
    expect(whyNot({ ...can, errors: [problem("/seeds")], asks: false })).toBe("Cannot start yet: Give a value. Click to go there.");
    expect(whyNot({ ...can, errors: [problem("/seeds")], fresh: false })).toBe("Checking");
    expect(whyNot({ ...can, fresh: false, lost: "no server" })).toBe("Check failed: no server");
    expect(whyNot({ ...can, lost: "no server", starting: true })).toBe("Starting");
  });
});
