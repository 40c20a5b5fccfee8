import { describe, expect, it } from "vitest";
import type { Reading } from "../../api/types";
import { factsOf } from "./ReadingSummary";

const READING: Reading = {
  delimiter: ";",
  decimal: ",",
  thousands: ".",
  nulls: ["n/a"],
  header: true,
  bad_cells: "refuse",
  missing: "skip_row",
  columns: [
    { written: "when", name: "when", type: "timestamp", keep: true, time_format: "iso", time_zone: "Europe/Berlin" },
    { written: "Preis (€)", name: "price", type: "float", keep: true, fill: 0 },
    { written: "n", name: "n", type: "int", keep: true },
    { written: "x", name: "x", type: "int", keep: false },
  ],
};

describe("how a data set was read", () => {
  it("names the marks, the columns that differ, and what was left out", () => {
    const counts = { rows: 1200, rows_skipped: 3, missing: { n: 3 }, bad: {} };
    expect(factsOf({ reading: READING, counts, hash: "abc" })).toEqual([
      ["Cells", "separated by semicolon, decimal comma, thousands by point"],
      ["Columns", "when (iso, Europe/Berlin); Preis (€) is price, 0 for missing; x left out"],
      ["Skipped", "3 rows of 1,200, without a value"],
      ["Missing", "n: 3 cells with no value"],
      ["Hash", "abc"],
    ]);
  });

  it("says why there is nothing to say", () => {
    expect(factsOf({ reading: null, counts: null, hash: null })).toEqual([["Read", "uploaded before readings were kept"]]);
    const counts = { rows: 1, rows_skipped: 0, missing: {}, bad: {} };
    expect(factsOf({ reading: null, counts, hash: null })).toEqual([["Read", "a Parquet file, with its own types"]]);
  });
});
