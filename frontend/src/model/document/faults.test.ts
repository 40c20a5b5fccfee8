import { describe, expect, it } from "vitest";
import type { Kind } from "../../api/types";
import { addFault, deathMarks, faultMarks, faultsOf, gridOf, labelLines, moveSpan, newFault, removeFault, replaceFault, spanOf, whomOf, withSpan } from "./faults";
import { kind, smallDocument } from "./testing";

const fields = (name: string, ...names: string[]): Kind => ({
  ...kind(name, [], []),
  schema: { type: "object", properties: Object.fromEntries(["kind", ...names].map((one) => [one, {}])) },
});

const PAUSE = fields("pause", "host", "when", "for_ms");
const PARTITION = fields("partition", "sources", "targets", "both_ways", "from_s", "to_s");
/** Kinds that nobody here has heard of. */
const LOSS = fields("loss", "host", "at_s");
const RESTART = fields("restart", "host", "when", "restart_after_s");

const pause = { kind: "pause", host: "w1", when: { kind: "at", at_s: 12 }, for_ms: 1500 };
const partition = { kind: "partition", sources: ["w1"], from_s: 3, to_s: 4.5 };

describe("when a fault is", () => {
  it("reads the times of every kind", () => {
    expect(spanOf(PAUSE, pause)).toEqual({ start_s: 12, end_s: 13.5 });
    expect(spanOf(PARTITION, partition)).toEqual({ start_s: 3, end_s: 4.5 });
    expect(spanOf(PARTITION, { kind: "partition", from_s: 3 })).toEqual({ start_s: 3, end_s: null });
    expect(spanOf(LOSS, { kind: "loss", host: "w1", at_s: 7 })).toEqual({ start_s: 7, end_s: 7 });
    const forEver = { kind: "restart", when: { kind: "at", at_s: 7 } };
    expect(spanOf(RESTART, forEver)).toEqual({ start_s: 7, end_s: null });
    expect(spanOf(RESTART, withSpan(RESTART, forEver, { start_s: 7, end_s: 9.5 }))).toEqual({ start_s: 7, end_s: 9.5 });
    expect(spanOf(PAUSE, { ...pause, when: { kind: "random", mean_s: 5 } })).toBeNull();
    expect(spanOf(PAUSE, { kind: "pause", when: { kind: "at" } })).toBeNull();
    expect(spanOf(undefined, { kind: "unheard of" })).toBeNull();
  });

  it("writes them as the kind does", () => {
    expect(withSpan(PAUSE, pause, { start_s: 2, end_s: 3.5 })).toEqual({ ...pause, when: { kind: "at", at_s: 2 } });
    expect(withSpan(PAUSE, pause, { start_s: 12, end_s: 12.3 }).for_ms).toBe(300);
    expect(withSpan(PARTITION, partition, { start_s: 1, end_s: 2.5 })).toEqual({ ...partition, from_s: 1, to_s: 2.5 });
    expect(withSpan(PARTITION, { kind: "partition", from_s: 3 }, { start_s: 1, end_s: null })).toEqual({ kind: "partition", from_s: 1 });
    expect(withSpan(LOSS, { kind: "loss", at_s: 7 }, { start_s: 8, end_s: 8 })).toEqual({ kind: "loss", at_s: 8 });
  });

  it("moves and stretches on a grid, inside the run", () => {
    expect([gridOf(30), gridOf(60), gridOf(600), gridOf(1)]).toEqual([0.1, 0.2, 2, 0.002]);
    const span = { start_s: 12, end_s: 13.5 };
    expect(moveSpan(span, "whole", 1.234, 30)).toEqual({ start_s: 13.2, end_s: 14.7 });
    expect(moveSpan(span, "whole", -99, 30)).toEqual({ start_s: 0, end_s: 1.5 });
    expect(moveSpan(span, "whole", 99, 30).start_s).toBe(29.9);
    expect(moveSpan(span, "end", 99, 30)).toEqual({ start_s: 12, end_s: 30 });
    expect(moveSpan(span, "end", -99, 30)).toEqual({ start_s: 12, end_s: 12.1 });
    expect(moveSpan(span, "start", 99, 30)).toEqual({ start_s: 13.4, end_s: 13.5 });
    expect(moveSpan({ start_s: 3, end_s: null }, "end", -10, 30)).toEqual({ start_s: 3, end_s: 20 });
  });
});

describe("the list of faults", () => {
  it("begins a fault with a host and a tenth of the run, whatever its kind", () => {
    const document = smallDocument();
    expect(newFault(PAUSE, document)).toEqual({ kind: "pause", host: "w1", when: { kind: "at", at_s: 12 }, for_ms: 3000 });
    expect(newFault(PARTITION, document)).toEqual({ kind: "partition", sources: ["w1"], from_s: 12, to_s: 15 });
    expect(newFault(LOSS, document, { host: "gateway", for_ms: 3 })).toEqual({ kind: "loss", host: "gateway", at_s: 12 });
  });

  it("adds, replaces and removes; without faults the document does not mention them", () => {
    const document = smallDocument();
    const two = addFault(addFault(document, partition), pause, 0);
    expect(faultsOf(two)).toEqual([pause, partition]);
    expect(faultsOf(replaceFault(two, 1, pause))).toEqual([pause, pause]);
    expect(removeFault(removeFault(two, 0), 0)).toEqual(document);
  });

  it("says whom it befalls", () => {
    expect(whomOf(pause)).toBe("w1");
    expect(whomOf(partition)).toBe("w1 ↔ all others");
    expect(whomOf({ ...partition, targets: ["w2", "w3"], both_ways: false })).toBe("w1 → w2, w3");
  });
});

describe("marks on a run's charts", () => {
  it("has the faults at known times by their beginning, no longer than the run", () => {
    const random = { kind: "pause", host: "w2", when: { kind: "random", mean_s: 5 }, for_ms: 10 };
    const endless = { kind: "partition", sources: ["w1"], from_s: 20 };
    const late = { kind: "partition", sources: ["w1"], from_s: 31, to_s: 32 };
    const faults = [endless, pause, random, late].reduce((document, fault) => addFault(document, fault), smallDocument());
    expect(faultMarks(faults, [PAUSE, PARTITION], 30)).toEqual([
      { start_s: 12, end_s: 13.5, forEver: false, text: "pause w1", host: "w1" },
      { start_s: 20, end_s: 30, forEver: true, text: "partition w1 ↔ all others", host: null },
    ]);
  });

  it("has the hosts that died until they are up again", () => {
    const death = { host: "w2", at_s: 7, used_bytes: 2, limit_bytes: 1, restart_at_s: null };
    const marks = deathMarks([{ ...death, at_s: 3, restart_at_s: 5 }, death], 10);
    const spans = marks.map(({ start_s, end_s, forEver }) => [start_s, end_s, forEver]);
    expect(spans).toEqual([[3, 5, false], [7, 10, true]]);
  });

  it("puts labels that would cover each other below one another, and leaves out what has no room", () => {
    expect(labelLines([0, 0.1, 0.15, 0.3], [0.2, 0.3, 0.1, 0.1], 2)).toEqual([0, 1, -1, 0]);
  });
});
