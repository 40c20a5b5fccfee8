import { describe, expect, it } from "vitest";
import {
  balancingBody,
  forkBody,
  forkRefusal,
  killBody,
  loadIn,
  lossMeans,
  moveRefusal,
  rescaleBody,
  secondsIn,
  settingIn,
  storeSettings,
  vectorSources,
} from "./fork";

describe("forks of similarity joins", () => {
  it("move worksets, or balance them", () => {
    expect(balancingBody(4, "join", [{ space: 1, number: 7, to: 2 }])).toEqual({
      at_s: 4,
      balancing: [{ at_s: 4, join: "join", moves: [{ space: 1, number: 7, to: 2 }] }],
    });
  });

  it("let vectors follow another law, as they have it last", () => {
    const vectors = { kind: "vectors", dimensions: 3 };
    const streams = { a: vectors, b: { kind: "switched", before: { kind: "vectors" }, at_s: 1, after: vectors }, c: { kind: "synthetic" } };
    const sources = Object.fromEntries(Object.entries(streams).map(([id, stream]) => [id, { stream }]));
    const found = vectorSources({ workload: { sources } } as never);
    expect(found.map(([id]) => id)).toEqual(["a", "b"]);
    const wish = { at_s: 2, load: "1", trouble: "none", host: "w" } as const;
    expect(forkBody({ ...wish, law: "gaussian" }, found)).toEqual({
      at_s: 2,
      streams: { a: { kind: "vectors", dimensions: 3, law: "gaussian" }, b: { kind: "vectors", dimensions: 3, law: "gaussian" } },
    });
    expect(forkBody(wish, found)).toEqual({ at_s: 2 });
  });
});

describe("forks", () => {
  it("says only what is different", () => {
    expect(forkBody({ at_s: 12.5, load: "1", trouble: "none", host: "w1" })).toEqual({ at_s: 12.5 });
    expect(forkBody({ at_s: 12.5, load: "1,5", trouble: "none", host: "w1" })).toEqual({ at_s: 12.5, load: 1.5 });
    expect(forkBody({ at_s: 3, load: "1", trouble: "host_loss", host: "w2" })).toEqual({
      at_s: 3,
      faults: [{ kind: "host_loss", host: "w2", when: { kind: "at", at_s: 3 } }],
    });
  });
  it("moves an operator to another host", () => {
    expect(forkBody({ at_s: 3, load: "1", trouble: "none", host: "w1", mover: "sums", moveTo: "w2" })).toEqual({
      at_s: 3,
      moves: [{ at_s: 3, hosts: { sums: "w2" } }],
    });
    expect(forkBody({ at_s: 3, load: "1", trouble: "none", host: "w1", mover: "sums" })).toEqual({ at_s: 3 });
    const registry = { scalings: [{ kind: "move", relocates: true }] } as never;
    const run = (parallelism: number, scaling?: string) =>
      ({ query: { operators: [{ id: "sums", parallelism }] }, policies: scaling ? { scaling: { kind: scaling } } : {} }) as never;
    expect(moveRefusal(run(1), ["a", "b"], registry)).toBe("");
    expect(moveRefusal(run(1, "move"), ["a", "b"], registry)).toBe("");
    expect(moveRefusal(run(1), ["a"], registry)).toContain("one host");
    expect(moveRefusal(run(2), ["a", "b"], registry)).toContain("sums has 2");
    expect(moveRefusal(run(1, "ds2"), ["a", "b"], registry)).toContain("either rescales or moves");
  });
  it("reads factors", () => {
    expect(["2", " 0,5 ", "0", "-1", "much", "", "1e9"].map(loadIn)).toEqual([2, 0.5, null, null, null, null, null]);
  });
  it("kills a host, for ever or for a while", () => {
    const when = { kind: "at", at_s: 3 };
    expect(killBody("w2", 3, null)).toEqual({ at_s: 3, faults: [{ kind: "host_loss", host: "w2", when }] });
    expect(killBody("w2", 3, 1.5)).toEqual({ at_s: 3, faults: [{ kind: "host_loss", host: "w2", when, restart_after_s: 1.5 }] });
    expect(["5", "0,5", "0", "-1", "soon", ""].map(secondsIn)).toEqual([5, 0.5, null, null, null, null]);
  });
  it("rescales what is wished to be other than it is", () => {
    expect(rescaleBody(12.5, { bids: 6, window: 20, sink: 1 }, { bids: 6, window: 24, sink: 1 })).toEqual({
      at_s: 12.5,
      rescales: [{ at_s: 12.5, parallelism: { window: 24 } }],
    });
  });
  it("says what a loss means under the run's protocol", () => {
    const texts = { none: "It has no protocol.", coordinated: "All go back to a round", uncoordinated: "All go back to a line" };
    const checkpointings = Object.entries(texts).map(([kind, loss_text]) => ({ kind, loss_text }));
    const means = (checkpointing?: object) =>
      lossMeans({ policies: checkpointing ? { checkpointing } : {} } as never, { checkpointings } as never);
    expect(means()).toEqual({ text: "It has no protocol.", replaced: false });
    expect(means({ kind: "coordinated", spares: 1 })).toEqual({ text: "All go back to a round; sources read again from there.", replaced: true });
    expect(means({ kind: "uncoordinated", semantics: "at_most_once" }).text).toContain("records in progress are lost");
  });
  it("says why there can be none", () => {
    expect(forkRefusal(null, 30, false)).toContain("no frame to fork from yet");
    expect(forkRefusal(30, 30, false)).toContain("scrub back");
    expect(forkRefusal(3, 30, true)).toContain("deleted");
    expect(forkRefusal(3, 30, false)).toBeNull();
  });
});

describe("settings of local stores", () => {
  const document = (changelog?: object) => ({ policies: { state: { kind: "changelog", ...(changelog && { changelog }) } } }) as never;
  const wish = { at_s: 3, load: "1", trouble: "none" as const, host: "" };

  it("can change where there are stores, and those of cleaners where changelogs are compacted", () => {
    expect(storeSettings({ policies: {} } as never)).toEqual([]);
    expect(storeSettings(document())).toEqual(["segment_ms", "commit_s"]);
    expect(storeSettings(document({ compacted: true }))).toEqual(["dirty_ratio", "segment_ms", "backoff_s", "commit_s"]);
  });

  it("are adjusted at the fork, if something was typed", () => {
    expect(forkBody({ ...wish, settings: { dirty_ratio: " 0,3", segment_ms: "" } })).toEqual({ at_s: 3, adjustments: [{ at_s: 3, dirty_ratio: 0.3 }] });
    expect(forkBody({ ...wish, settings: { segment_ms: " " } })).toEqual({ at_s: 3 });
    expect(Number.isNaN(settingIn("soon"))).toBe(true);
  });

  it("are lost with the disk or without it", () => {
    expect(killBody("w1", 3, 2, "process_crash")).toEqual({
      at_s: 3,
      faults: [{ kind: "process_crash", host: "w1", when: { kind: "at", at_s: 3 }, restart_after_s: 2 }],
    });
    expect(lossMeans(document(), {} as never).text).toContain("read again from the last commit");
  });
});
