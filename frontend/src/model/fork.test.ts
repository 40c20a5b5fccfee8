import { describe, expect, it } from "vitest";
import { forkBody, forkRefusal, loadIn } from "./fork";

describe("forks", () => {
  it("says only what is different", () => {
    expect(forkBody({ at_s: 12.5, load: "1", trouble: "none", host: "w1" })).toEqual({ at_s: 12.5 });
    expect(forkBody({ at_s: 12.5, load: "1,5", trouble: "none", host: "w1" })).toEqual({ at_s: 12.5, load: 1.5 });
    expect(forkBody({ at_s: 3, load: "1", trouble: "host_loss", host: "w2" })).toEqual({
      at_s: 3,
      faults: [{ kind: "host_loss", host: "w2", when: { kind: "at", at_s: 3 } }],
    });
  });
  it("reads factors", () => {
    expect(["2", " 0,5 ", "0", "-1", "much", "", "1e9"].map(loadIn)).toEqual([2, 0.5, null, null, null, null, null]);
  });
  it("says why there can be none", () => {
    expect(forkRefusal(null, 30, false)).toContain("no frame yet");
    expect(forkRefusal(30, 30, false)).toContain("scrub back");
    expect(forkRefusal(3, 30, true)).toContain("deleted");
    expect(forkRefusal(3, 30, false)).toBeNull();
  });
});
