import { describe, expect, it } from "vitest";
import type { FigureDocument, FigureStatus } from "../../api/figure";
import {
  bestOf,
  byPaper,
  lessonsOf,
  csvOf,
  matching,
  isOwn,
  panelsOf,
  placeOf,
  pointOf,
  pointText,
  shortName,
  sideText,
  shippedText,
  sourceText,
  spotValue,
  statusesText,
  tableOf,
  tallyText,
  underWayTally,
  underWayText,
} from "./figure";

const document: FigureDocument = {
  title: "t",
  source: { paper: "P" },
  claim: "c",
  differs: "d",
  studies: { s: {} },
  values: { p99: { kind: "metric", study: "s" }, most: { kind: "sustained", study: "s" }, gone: { kind: "metric", study: "s" } },
  reported: { p99: { x: [1, 2], y: [10, 20] }, most: 7 },
  drawing: {
    panels: [
      {
        title: "Latency",
        x: { title: "Rate", unit: "records/s" },
        y: { title: "Latency", unit: "ms", log: true },
        series: [{ value: "p99", name: "tail" }, { value: "p99", name: "tail", reported: true }, { value: "gone" }],
        marks: [{ at: "most", name: "sustainable" }, { at: "gone" }],
      },
      { series: [{ value: "most", name: "=most", mark: "bars" }, { value: "most", name: "=most", reported: true, mark: "bars" }] },
    ],
  },
};
const values = {
  p99: { x: [1, 3], y: [11, 22], low: [10, null], high: [12, null], runs: [["a", "b"], ["c"]] },
  most: { value: 6, runs: ["a"] },
  gone: { reason: "2 of 3 runs are missing" },
};
const panels = panelsOf(document, values);

describe("panels", () => {
  it("say where a point stands: its axis and unit, or the row, and of which table", () => {
    const [latency, bars] = panels;
    expect(latency && placeOf(latency, "tail", 3)).toBe("Rate 3 records/s");
    expect(bars && placeOf({ ...bars, title: "Map" }, "most", "DS2")).toBe("DS2, Map");
    expect(bars && placeOf({ ...bars, title: "Map" }, "most", "most")).toBe("Map");
  });

  it("draw the reported and the measured under one name and colour", () => {
    const [latency, bars] = panels;
    expect(latency?.curves.map(({ name, reported, at, mark }) => [name, reported, at, mark])).toEqual([
      ["tail", false, 0, "line"],
      ["tail", true, 0, "line"],
    ]);
    expect(latency?.curves[0]?.spots[0]).toEqual({ x: 1, y: 11, low: 10, high: 12, runs: ["a", "b"] });
    expect(latency?.marks).toEqual([{ x: 6, name: "sustainable" }]);
    expect(bars?.curves.map(({ spots }) => spots)).toEqual([
      [{ x: "=most", y: 6, low: null, high: null, runs: ["a"] }],
      [{ x: "=most", y: 7, low: null, high: null, runs: [] }],
    ]);
  });

  it("know the best of a column where somebody said what that is", () => {
    const columns = { tail: { better: "lower", about: "the slowest" } } as const;
    const [{ curves = [] } = {}] = panelsOf({ ...document, drawing: { ...document.drawing, columns } }, values);
    expect(curves.map(({ column }) => column)).toEqual([columns.tail, columns.tail]);
    expect(curves.map(bestOf)).toEqual([[0], [0]]);
    const best = (better: "lower" | "higher" | undefined, ...all: number[]) =>
      bestOf({ column: better ? { better } : {}, spots: all.map((y, x) => ({ x, y, low: null, high: null, runs: [] })) });
    expect(best("higher", 1, 3, NaN, 3)).toEqual([1, 3]);
    expect(best("lower", 2, 2)).toEqual([]);
    expect(best("lower", 2)).toEqual([]);
    expect(best("lower")).toEqual([]);
    expect(best(undefined, 1, 2)).toEqual([]);
  });

  it("have one list of runs where all points are of the same", () => {
    const [{ curves = [] } = {}] = panelsOf(document, { ...values, p99: { x: [1, 2, 3], y: [1, 2, 3], runs: [["a"]] } });
    expect(curves[0]?.spots.map(({ runs }) => runs)).toEqual([["a"], ["a"], ["a"]]);
  });

  it("say what is not drawn, and why", () => {
    expect(panels[0]?.missing).toEqual([{ name: "gone", reason: "2 of 3 runs are missing" }]);
    const [before] = panelsOf(document, {});
    expect(before?.curves.map(({ reported }) => reported)).toEqual([true]);
    expect(before?.missing[0]).toEqual({ name: "tail", reason: "not measured yet" });
  });

  it("are told as tables, a row for each x", () => {
    const table = tableOf(panels[0] as (typeof panels)[0]);
    expect(table.head).toBe("Rate, records/s");
    expect(table.rows).toEqual([
      { x: 1, spots: [0, 0] },
      { x: 2, spots: [null, 1] },
      { x: 3, spots: [1, null] },
    ]);
  });

  it("say which numbers are known from below", () => {
    const document = { drawing: { panels: [{ series: [{ value: "one" }, { value: "many" }] }] } } as unknown as FigureDocument;
    const [panel] = panelsOf(document, {
      one: { value: 85_000, at_least: true },
      many: { x: [10, 20], y: [1.5, 85_000], at_least: [false, true] },
    });
    expect(panel?.curves.flatMap(({ spots }) => spots.map(spotValue))).toEqual(["≥ 85k", "1.5", "≥ 85k"]);
    expect(csvOf(panel ? [panel] : []).trim().split("\n").map((line) => line.endsWith(",yes"))).toEqual([false, true, false, true]);
    expect(sideText({ text: "", least: 85_000, most: null })).toBe("85000 or more");
  });

  it("are told as CSV, without formulas", () => {
    const lines = csvOf(panels).trim().split("\n");
    expect(lines).toHaveLength(7);
    expect(lines[1]).toBe("Latency,tail,measured,Rate,records/s,1,Latency,ms,11,10,12,a b,");
    expect(lines[5]).toBe("'=most,'=most,measured,,,'=most,,,6,,,a,");
  });
});

describe("a drawing of kind table", () => {
  const table: FigureDocument = {
    ...document,
    values: { wait: { kind: "metric", study: "s" }, workers: { kind: "metric", study: "s" } },
    reported: { wait: { x: ["ds2", "dhalion"], y: [13, 67] } },
    drawing: {
      kind: "table",
      panels: [
        {
          title: "Map",
          x: { title: "Policy" },
          series: [
            { value: "wait", name: "wait", unit: "s" },
            { value: "wait", name: "wait", unit: "s", reported: true },
            { value: "workers", name: "workers" },
          ],
        },
      ],
    },
  };
  const [rows] = panelsOf(table, { wait: { x: ["dhalion", "ds2"], y: [60, 10] }, workers: { x: ["dhalion"], y: [12] } });

  it("has the points of the axis as rows, in their order", () => {
    expect(rows && tableOf(rows).head).toBe("Policy");
    expect(rows && tableOf(rows).rows).toEqual([
      { x: "dhalion", spots: [0, 1, 0] },
      { x: "ds2", spots: [1, 0, null] },
    ]);
  });

  it("has a unit for each column, in the CSV too", () => {
    expect(rows?.curves.map(({ unit }) => unit)).toEqual(["s", "s", ""]);
    expect(csvOf(rows ? [rows] : []).split("\n")[1]).toBe("Map,wait,measured,Policy,,dhalion,,s,60,,,,");
  });
});

describe("points", () => {
  it("stand in the address", () => {
    expect(pointOf("0.0.1", panels)).toEqual({ panel: 0, curve: 0, spot: 1 });
    expect(pointText({ panel: 0, curve: 0, spot: 1 })).toBe("0.0.1");
  });

  it("are the first measured one where the address names none", () => {
    for (const text of ["", "9.9.9", "x", "0.0", "0.0.7"]) expect(pointOf(text, panels)).toEqual({ panel: 0, curve: 0, spot: 0 });
    expect(pointOf("", panelsOf(document, {}))).toBeNull();
  });
});

describe("words", () => {
  it("tell sides, tallies and sources", () => {
    expect(sideText({ text: "a", least: 1, most: 1 })).toBe("1");
    expect(sideText({ text: "a", least: 0.123456, most: 62500 })).toBe("0.12346 to 62500");
    expect(tallyText({ holds: 5, fails: 1, "not evaluated": 2 })).toBe("5 hold, 1 does not, 2 not evaluated");
    expect(tallyText({ "not run": 4 })).toBe("4 not run");
    const row = { state: "running", progress: 0.43, cancel_requested: false } as const;
    expect([underWayText(row), underWayText({ ...row, state: "queued" })]).toEqual(["Running, 43 %", "Waiting"]);
    expect(underWayTally({ "not run": 4 }, row)).toBe("4 wait for their runs");
    expect(underWayTally({ holds: 2, "not run": 1 }, { ...row, state: "queued" })).toBe("2 hold, 1 waits for a worker");
    const dev = (status: FigureStatus) => ({ status, scale: "dev" as const });
    const idle = { status: "not run" as const, scale: null };
    expect(statusesText([idle, dev("partly"), dev("calibrated"), dev("calibrated")])).toBe("2 calibrated, 1 partly reproduced, 1 not run");
    expect(statusesText([dev("not evaluated"), { status: "not evaluated", scale: "smoke" }, dev("not reproduced"), idle])).toBe(
      "1 not reproduced, 2 not evaluated, 1 not run; 1 at smoke scale",
    );
    expect(sourceText({ paper: "Karimov 2020", figure: "3.7", section: "3.4.3", page: "" })).toBe("Karimov 2020, figure 3.7, section 3.4.3");
    expect(sourceText({ paper: "Millrace", figure: "", section: "figures of our own", page: "" })).toBe("Millrace, figures of our own");
    expect(sourceText({ paper: "Siachamis 2024", figure: "Table 3.2", section: "3.7.2", page: "" })).toBe("Siachamis 2024, Table 3.2, section 3.7.2");
  });
});

describe("the list", () => {
  const item = (id: string, status: "partly" | "not run", title = "Latency") => ({
    id,
    title,
    status,
    source: { paper: id.startsWith("b") ? "Karimov 2020" : "Millrace", figure: "", section: "", page: "" },
  });
  const items = [item("b/3.13", "partly"), item("b/3.4", "not run", "Coordinated omission"), item("m/q1", "not run")];

  it("is searched by words and status", () => {
    expect(matching(items, "karimov lat", "").map(({ id }) => id)).toEqual(["b/3.13"]);
    expect(matching(items, "", "not run").map(({ id }) => id)).toEqual(["b/3.4", "m/q1"]);
    expect(matching(items, "nothing", "")).toEqual([]);
  });

  it("says what comes with Millrace, and of which engine", () => {
    const shipped = { status: "partly", scale: "dev", engine_version: "17", is_current: true } as const;
    expect(shippedText(true, shipped)).toBe("comes with Millrace");
    expect(shippedText(true, { ...shipped, is_current: false })).toBe("comes with Millrace, engine version 17");
    expect(shippedText(false, shipped)).toBe("shipped result: partly reproduced at dev scale");
  });

  it("is by paper, figures by their numbers", () => {
    expect(byPaper(items).map(({ name, figures }) => [name, figures.map(({ id }) => id)])).toEqual([
      ["Karimov 2020", ["b/3.4", "b/3.13"]],
      ["Millrace", ["m/q1"]],
    ]);
  });

  it("are told apart where two parts are of one publication", () => {
    const of = (id: string) => ({ id, title: "", status: "not run" as const, source: { paper: "S 2024", figure: "", section: "", page: "" } });
    expect(byPaper([of("scaling/1"), of("checkpoints/1")]).map(({ name }) => name)).toEqual(["S 2024, scaling", "S 2024, checkpoints"]);
  });

  it("come last where a paper has no result at all", () => {
    const of = (id: string, status: FigureStatus) => ({ id, title: "", status, source: { paper: id, figure: "", section: "", page: "" } });
    const items = [of("a/1", "not run"), of("b/1", "partly"), of("b/2", "not run"), of("c/1", "calibrated")];
    expect(byPaper(items).map(({ paper }) => paper)).toEqual(["b", "c", "a"]);
  });

  it("have the lessons of their paper beside them", () => {
    const lessons = ["klink-1.1", "klinker-2", "checkmate-3.1"].map((id) => ({ id }));
    expect(lessonsOf(lessons, "klink")).toEqual([{ id: "klink-1.1" }]);
    expect(lessonsOf(lessons, "benchmark")).toEqual([]);
  });

  it("have a short name: their place in the paper, or their own", () => {
    const of = (figure?: string) => ({ id: "p/own", document: { source: { paper: "P", ...(figure ? { figure } : {}) } } });
    expect(["3.7", "4.3 to 4.9", "Table 3.2", "text", "our own figure", undefined].map((figure) => shortName(of(figure)))).toEqual([
      "Figure 3.7",
      "Figure 4.3 to 4.9",
      "Table 3.2",
      "own",
      "own",
      "own",
    ]);
    expect(["3.7", "text", "our own figure", ""].map((figure) => isOwn({ figure }))).toEqual([false, false, true, true]);
  });
});
