import { describe, expect, it } from "vitest";
import { addressOf, KEPT, sameView, viewOf } from "./views";

describe("a view", () => {
  it("keeps what the address says, and gives it back with the rest emptied", () => {
    const view = viewOf({ state: "failed", search: "", of_studies: "1", columns: "run,p99" });
    expect(view).toEqual({ state: "failed", of_studies: true, columns: "run,p99" });
    const address = addressOf(view);
    expect(Object.keys(address)).toEqual([...KEPT]);
    expect(Object.fromEntries(Object.entries(address).filter(([, value]) => value))).toEqual({ state: "failed", of_studies: "1", columns: "run,p99" });
  });

  it("is the same list as an address, or is not", () => {
    expect(sameView(viewOf({ of_studies: "1" }), { of_studies: true })).toBe(true);
    expect(sameView({}, viewOf({ sort: "" }))).toBe(true);
    expect(sameView({ sort: "p99" }, { sort: "-p99" })).toBe(false);
  });
});
