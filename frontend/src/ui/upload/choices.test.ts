import { describe, expect, it } from "vitest";
import type { UploadPreview } from "../../api/types";
import { documentOf, fillOf, NOTHING_CHOSEN, otherProblems, problemsOf, refusalOf, shownOf, withColumn, withFrame, wordsOf } from "./choices";

const problem = (pointer: string, severity: "error" | "warning" = "error") => ({
  pointer,
  code: "x",
  message: "m",
  value: null,
  hint: "",
  severity,
  missing: false,
  line: null,
  column: null,
});
const preview = (...problems: ReturnType<typeof problem>[]): UploadPreview => ({
  reading: { delimiter: ",", decimal: ".", thousands: "", nulls: [], header: true, bad_cells: "refuse", missing: "refuse", columns: [] },
  reasons: [],
  problems,
  rows: 1,
  missing: [],
  bad: [],
  written: [],
  read: [],
});

describe("choices of a reading", () => {
  it("say nothing about what nobody chose", () => {
    expect(documentOf({ ...NOTHING_CHOSEN, written: ["a", "b"] })).toEqual({});
    expect(documentOf({ ...NOTHING_CHOSEN, decimal: ",", written: ["a"] })).toEqual({ decimal: "," });
  });

  it("name each column as the file does, also those of one name", () => {
    const chosen = withColumn(withColumn(NOTHING_CHOSEN, 1, { name: "b" }), 1, { type: "float" });
    expect(documentOf({ ...chosen, written: ["a", "a"] })).toEqual({ columns: [{ written: "a" }, { written: "a", name: "b", type: "float" }] });
    expect(documentOf({ ...NOTHING_CHOSEN, zone: "Europe/Berlin", written: ["a"] })).toEqual({ columns: [{ written: "a", time_zone: "Europe/Berlin" }] });
  });

  it("forget the columns with what makes them", () => {
    const chosen = withColumn({ ...NOTHING_CHOSEN, zone: "Europe/Berlin", written: ["a"] }, 0, { name: "x" });
    expect(documentOf(withFrame(chosen, { delimiter: ";" }))).toEqual({ delimiter: ";" });
  });

  it("stay on show while they are refused, beside what was detected", () => {
    const { reading } = preview();
    const read = { ...reading, columns: [{ written: "a", name: "a", type: "timestamp" as const, keep: true, time_format: "s" }] };
    const chosen = withColumn({ ...NOTHING_CHOSEN, nulls: ["far too long"] }, 0, { name: "b", time_format: undefined });
    expect(shownOf(read, chosen)).toEqual({ ...read, nulls: ["far too long"], columns: [{ ...read.columns[0], name: "b" }] });
  });

  it("take words and values as they are written", () => {
    expect(wordsOf(" n/a, -,, none ")).toEqual(["n/a", "-", "none"]);
    expect([fillOf("0", "int"), fillOf("1.5", "float"), fillOf("true", "bool"), fillOf("x", "int"), fillOf(" ", "int")]).toEqual([0, 1.5, true, "x", undefined]);
  });

  it("tell problems of a column from those of the file, and refuse while there is an error", () => {
    const shown = preview(problem("/columns/1/name"), problem("/file"), problem("/columns/10/type", "warning"));
    expect(otherProblems(preview(problem("/columns/99/name"), problem("/columns/100/name"), problem("/columns")))).toHaveLength(2);
    expect(problemsOf(shown, 1)).toHaveLength(1);
    expect(otherProblems(shown)).toHaveLength(1);
    expect(refusalOf(shown, "x")).toBe("Fix the 2 problems shown.");
    expect(refusalOf(preview(problem("/columns/0/type", "warning")), "x")).toBe("");
    expect(refusalOf(preview(), " ")).toBe("Enter a name.");
    expect(refusalOf(undefined, "x")).toBe("The file is being read.");
  });
});
