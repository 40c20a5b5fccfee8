import { describe, expect, it } from "vitest";
import { smallDocument } from "../document/testing";
import { hasNoOutput, whereRecordsStop } from "./noOutput";

const summary = {
  records_in: 1000,
  records_out: 0,
  operators: {
    persons: { in: 500, out: 500 },
    auctions: { in: 500, out: 500 },
    filter: { in: 500, out: 250 },
    join: { in: 750, out: 0 },
    sink: { in: 0, out: 0 },
  },
};

describe("a run without output", () => {
  it("read records and delivered none", () => {
    expect(hasNoOutput(summary)).toBe(true);
    expect(hasNoOutput({ ...summary, records_out: 1 })).toBe(false);
    expect(hasNoOutput({ ...summary, records_in: 0 })).toBe(false);
    expect(hasNoOutput(null)).toBe(false);
  });

  it("says at which operator records stop", () => {
    expect(whereRecordsStop(summary, smallDocument())).toBe("'join' received 750 records and emitted none.");
    expect(whereRecordsStop(null, smallDocument())).toBe("");
  });
});
