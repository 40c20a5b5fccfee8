import { describe, expect, it } from "vitest";
import type { Json, StudyPoint, StudyResults, StudySearch } from "../../api/types";
import { cellsOf, chartLines, dimensionsOf, firstAcross, foundByPoint, isWide, valuesAlong, whyNoCells, whyNoLog } from "./chart";
import { FOUND, metricOf, metricTitle, metricsNamed } from "./metrics";
import { axisTitle, namedAxes, namedValues, pointText, questionOf, valueText, type StudyDocument } from "./study";
import { rowsOf, runsCsv, searchesCsv, sortedRows } from "./table";

const sweep: StudyDocument = {
  experiment: {},
  seeds: [1, 2],
  axes: [
    { name: "policy", fields: ["/policies/flow_control"], values: { kind: "list", of: [{ kind: "unbounded" }, { kind: "credits", per_channel: 8 }] } },
    { name: "workers", fields: ["/cluster/hosts/0/count"], values: { kind: "list", of: [1, 2] } },
    { name: "rate", fields: ["/workload/sources/a/rate/per_s"], values: { kind: "log", from: 10, to: 1000, count: 3 } },
  ],
};
const P99 = "latency_ms.p99";

function point(number: number, values: StudyPoint["values"], value: number | null, more: Partial<StudyPoint> = {}): StudyPoint {
  const measured: Record<string, number> = value === null ? {} : { [P99]: value };
  const run = { values, run: `r${number}`, number, state: "succeeded" as const, reused: false, metrics: measured, failure: null };
  return {
    point: number,
    values,
    share: null,
    runs: [1, 2].map((seed) => ({ ...run, seed })),
    over_seeds: value === null ? {} : { [P99]: { mean: value, low: value - 1, high: value + 1, count: 2 } },
    assertions: [],
    ...more,
  };
}

const policies: Json[] = [{ kind: "unbounded" }, { kind: "credits", per_channel: 8 }];
const results: StudyResults = {
  points: policies.flatMap((policy, p) =>
    [1, 2].flatMap((workers, w) => [1000, 10, 100].map((rate, r) => point(p * 6 + w * 3 + r, { policy, workers, rate }, rate / workers))),
  ),
  found: [],
  count: 12,
};

describe("axes and values in words", () => {
  it("names units where all fields have the same, and factors", () => {
    expect(sweep.axes?.map(axisTitle)).toEqual(["policy", "workers", "rate, rec/s"]);
    expect(axisTitle({ name: "load", fields: ["/x/per_s"], multiply: true, values: { kind: "between", from: 1, to: 2 } })).toBe("load, ×");
  });
  it("writes any value in few letters", () => {
    expect([2.5, 10000, true, "a", { kind: "credits", per_channel: 8 }, null].map(valueText)).toEqual([
      "2.5",
      "10,000",
      "on",
      "a",
      "credits, per channel 8",
      "none",
    ]);
    expect(pointText({ workers: 2, rate: 1.5 })).toBe("workers 2, rate 1.5");
    expect(questionOf(sweep)).toBe("Over policy and workers and rate");
  });
  it("names metrics, whose they are and their units", () => {
    expect(metricTitle(metricOf(P99))).toBe("Latency p99, ms");
    expect(metricTitle(metricOf("throughput_out_per_s"))).toBe("Throughput out, rec/s");
    expect(metricOf("checkpointing.restart_time_ms")).toMatchObject({ label: "Restart time", unit: "ms", group: "Checkpointing" });
    expect(metricOf("operators.join.busy")).toMatchObject({ label: "join: busy", group: "Operator join" });
    expect(metricsNamed("nothing", [P99, "late"], false)).toEqual([P99]);
    expect(metricsNamed(`late,late,${FOUND}`, [P99, "late"], true)).toEqual(["late", FOUND]);
    expect(metricsNamed("", [P99], true)).toEqual([FOUND, P99]);
  });
});

describe("lines of a sweep", () => {
  const dimensions = dimensionsOf(sweep);
  it("go over the fastest axis of numbers, one for each choice of the others, in the order of x", () => {
    expect(firstAcross(dimensions).name).toBe("rate");
    const lines = chartLines(sweep, results, { metric: P99, across: "rate", held: {} });
    expect(lines.map(({ label }) => label)).toEqual([
      "policy unbounded, workers 1",
      "policy unbounded, workers 2",
      "policy credits, per channel 8, workers 1",
      "policy credits, per channel 8, workers 2",
    ]);
    expect(lines[1]?.spots.map(({ x, y }) => [x, y])).toEqual([
      [10, 5],
      [100, 50],
      [1000, 500],
    ]);
  });
  it("are fewer where an axis is held at a value", () => {
    const lines = chartLines(sweep, results, { metric: P99, across: "rate", held: { policy: "credits, per channel 8", workers: "1" } });
    expect(lines.map(({ label, spots }) => [label, spots.length])).toEqual([["", 3]]);
    expect(valuesAlong(results, "policy")).toEqual(["unbounded", "credits, per channel 8"]);
  });
  it("have no spot where nothing was measured", () => {
    const some = { ...results, points: [point(0, { policy: "x", workers: 1, rate: 1 }, null), ...results.points] };
    expect(chartLines(sweep, some, { metric: P99, across: "rate", held: {} })).toHaveLength(4);
    expect(chartLines(sweep, results, { metric: "late", across: "rate", held: {} })).toEqual([]);
  });
  it("do not tell numbers apart that were drawn, or that move together", () => {
    for (const kind of ["together", "random"]) {
      const study = { ...sweep, axes: sweep.axes?.slice(1) ?? [], design: { kind, points: 12 } };
      expect(chartLines(study, results, { metric: P99, across: "rate", held: {} })).toHaveLength(1);
      expect(whyNoCells(study)).toContain("needs a grid");
    }
  });
  it("are runs by seed where nothing is varied", () => {
    const study = { experiment: {}, seeds: [1, 2] };
    const one = { points: [point(0, {}, 7)], found: [], count: 1 };
    const lines = chartLines(study, one, { metric: P99, across: firstAcross(dimensionsOf(study)).name, held: {} });
    expect(lines[0]?.spots.map(({ x, y }) => [x, y])).toEqual([
      [1, 7],
      [2, 7],
    ]);
  });
  it("have the values over two axes as cells, and null where there are none", () => {
    const held = { policy: "unbounded" };
    const cells = cellsOf(sweep, { ...results, points: results.points.slice(1) }, { metric: P99, across: "rate", held }, "workers");
    expect(cells).toMatchObject({ x: [10, 100, 1000], y: [1, 2], z: [[10, 100, null], [5, 50, 500]] });
    expect(cells.points[0]?.[0]).toBe(1);
    expect(whyNoCells(sweep)).toBe("");
  });
  it("are logarithmic beyond a decade", () => {
    expect([[1, 11], [1, 9], [0, 100], [5]].map(isWide)).toEqual([true, false, false, false]);
  });
  it("says why an axis has no logarithm", () => {
    const across = { name: "rate", title: "rate", numeric: true } as never;
    const lines = (x: number) => [{ spots: [{ x, y: 1 }] }] as never;
    expect(whyNoLog(across, lines(1))).toBe("");
    expect(whyNoLog(across, lines(0))).toMatch(/no logarithm/);
    expect(whyNoLog({ name: "policy", title: "policy", numeric: false } as never, [])).toMatch(/no numbers/);
  });
});

const search: StudyDocument = {
  experiment: {},
  seeds: [1, 2],
  axes: [{ name: "workers", fields: ["/a"], values: { kind: "list", of: [1, 2] } }],
  search: {
    kind: "sustainable",
    load: { name: "load", fields: ["/b"], multiply: true, values: { kind: "between", from: 1, to: 8 } },
    shares: [0.9, 0.5],
  },
};
const searched = (number: number, seed: number, sustained: number | null, over = true): StudySearch => ({
  point: number,
  values: { workers: number + 1 },
  seed,
  sustained,
  failed: 9,
  over,
  failure: null,
  tried: [{ load: 8, sustained: false, reasons: ["the queue grows, fast", "x"], figures: { offered_per_s: 10 }, run: "r", number: 3 }],
});
const found: StudyResults = {
  points: [0.9, 0.5].flatMap((share) =>
    [0, 1].map((at) => {
      const made = point(at, { workers: at + 1 }, 3, { share });
      return { ...made, runs: made.runs.map((run) => ({ ...run, values: { workers: at + 1, load: (at + 1) * 4 * share + run.seed } })) };
    }),
  ),
  found: [searched(0, 1, 4), searched(0, 2, 5), searched(1, 1, 8), searched(1, 2, null, false)],
  count: 2,
};

describe("what a search found", () => {
  it("is the median over the seeds that have ended, from the least to the largest", () => {
    expect(foundByPoint(found).map(({ least, median, most }) => [least, median, most])).toEqual([
      [4, 4.5, 5],
      [8, 8, 8],
    ]);
    const lines = chartLines(search, found, { metric: FOUND, across: "workers", held: {} });
    expect(lines[0]?.spots.map(({ x, y, low, high }) => [x, y, low, high])).toEqual([
      [1, 4.5, 4, 5],
      [2, 8, 8, 8],
    ]);
    expect(chartLines(search, found, { metric: FOUND, across: "load", held: {} })).toEqual([]);
  });
  it("may stand on the other axis: the mean load of the seeds, a line for each share", () => {
    const lines = chartLines(search, found, { metric: P99, across: "load", held: {} });
    expect(lines.map(({ label, spots }) => [label, spots.map(({ x }) => Number(x))])).toEqual([
      ["workers 1, share 0.9", [3.6 + 1.5]],
      ["workers 2, share 0.9", [7.2 + 1.5]],
      ["workers 1, share 0.5", [2 + 1.5]],
      ["workers 2, share 0.5", [4 + 1.5]],
    ]);
  });
});

describe("rows and files", () => {
  it("are sorted, with what is missing last", () => {
    const some = { ...results, points: [...results.points.slice(0, 3), point(3, { policy: "a", workers: 1, rate: 1 }, null)] };
    expect(sortedRows(rowsOf(some), P99).map((row) => row.point)).toEqual([1, 2, 0, 3]);
    expect(sortedRows(rowsOf(some), `-${P99}`).map((row) => row.point)).toEqual([0, 2, 1, 3]);
  });
  it("have a row also for points at which only a search goes on", () => {
    const rows = rowsOf({ ...found, points: [] });
    expect(rows.map(({ key, runs }) => [key, runs])).toEqual([
      ["0", 0],
      ["1", 0],
    ]);
  });
  it("are CSV, quoted where it has to be, and never a formula", () => {
    const one = { ...results, points: [point(0, { policy: "=1+1", workers: 1, rate: 10 }, 7)] };
    expect(runsCsv(sweep, one, [P99]).split("\n").slice(0, 2)).toEqual([
      "point,policy,workers,rate,seed,run,state,latency_ms.p99,failure",
      "0,'=1+1,1,10,1,0,succeeded,7,",
    ]);
    expect(searchesCsv(search, found).split("\n")[1]).toBe('0,1,1,8,false,"the queue grows, fast; x",3,10');
  });
});

describe("axes that move together", () => {
  const placement = { name: "placement", fields: ["/placement"], values: { kind: "list", of: [{ kind: "spread" }, { kind: "staged" }] } };
  const candidate = { name: "candidate", fields: ["/name"], values: { kind: "list", of: ["1", "2"] } };
  const study = (kind: string, axes: object[]) => ({ axes, design: { kind } }) as unknown as StudyDocument;

  it("are told by the one that has plain values", () => {
    const together = study("together", [placement, candidate]);
    expect(namedAxes(together).map(({ name }) => name)).toEqual(["candidate"]);
    expect(namedValues(together, { placement: { kind: "spread" }, candidate: "1" })).toEqual({ candidate: "1" });
    expect(questionOf(together)).toBe("Over candidate");
  });

  it("are all told where none or each of them is needed", () => {
    expect(namedAxes(study("together", [placement])).length).toBe(1);
    expect(namedAxes(study("grid", [placement, candidate])).length).toBe(2);
  });
});
