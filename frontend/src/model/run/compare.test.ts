import { describe, expect, it } from "vitest";
import type { ComparedSide, Frame } from "../../api/types";
import { compareLink, figureRows, idsOf, implied, kindsOf, momentsIn, momentsOf, onOneAxis, parameterRows, placeOf, seedsToRun, valueAt, withBaseline } from "./compare";

const document = (parallelism: number, extra: object = {}) => ({
  name: `with ${parallelism}`,
  query: { operators: [{ id: "join", parallelism, params: { key: "a/b" } }] },
  ui: { positions: { join: { x: parallelism, y: 0 } } },
  ...extra,
});

describe("figures of queries", () => {
  it("stand behind those of the runs, for every query that any run names", () => {
    const query = (mean: number) => ({ latency_ms: { mean, p99: 2 * mean }, throughput_out_per_s: 5 });
    const run = (name: string, mean: number) => ({ summary: { latency_ms: { mean }, queries: { [name]: query(mean) } } });
    const rows = figureRows([run("ysb", 4), run("tolls", 6)] as never);
    expect(rows.map(({ label, values }) => [label, ...values])).toEqual([
      ["Latency, mean", 4, 6],
      ["ysb: latency, mean", 4, null],
      ["ysb: latency, p99", 8, null],
      ["ysb: throughput out", 5, null],
      ["tolls: latency, mean", null, 6],
      ["tolls: latency, p99", null, 12],
      ["tolls: throughput out", null, 5],
    ]);
  });
});

describe("kinds of policies", () => {
  it("tell the compared apart", () => {
    const under = (kind?: string) => ({ policies: { flow_control: { kind: "credits" }, ...(kind ? { scaling: { kind, target: 1 } } : {}) } });
    expect(kindsOf([under("ds2"), under("hpa_cpu"), under()])).toEqual(["ds2", "hpa cpu", "none"]);
    expect(kindsOf([under("ds2"), under("ds2")])).toEqual(["", ""]);
    const inPlace = { policies: { scaling: { kind: "ds2", rescaling: { kind: "in_place" } } } };
    expect(kindsOf([under("ds2"), inPlace])).toEqual(["credits, stop and restart", "none, in place"]);
    expect(kindsOf([{ policies: {} }, inPlace])).toEqual(["none", "ds2, in place"]);
    const way = "/policies/scaling/rescaling/kind";
    expect([under("ds2"), under()].map((one) => implied(way, one))).toEqual(["stop_and_restart", ""]);
    expect(implied("/policies/scaling/target", under("ds2"))).toBe("");
  });
});

describe("parameters", () => {
  it("are told by pointer, only where they differ, without names and positions", () => {
    const documents = [document(2), document(3, { faults: [] }), document(2, { seed: 7 })];
    expect(parameterRows(documents, true)).toEqual([
      { pointer: "/query/operators/0/parallelism", values: [2, 3, 2] },
      { pointer: "/seed", values: [undefined, undefined, 7] },
    ]);
    expect(parameterRows(documents, false).map(({ pointer }) => pointer)).toContain("/query/operators/0/params/key");
    expect(parameterRows([document(2), document(2)], true)).toEqual([]);
  });

  it("are said to be whose", () => {
    expect(placeOf("/query/operators/0/params/key", [document(1)])).toBe("join");
    expect(placeOf("/query/operators/7/kind", [document(1)])).toBe("");
    expect(placeOf("/workload/seed", [document(1)])).toBe("");
    expect(placeOf("/query/edges/0/partitioning/kind", [{ query: { edges: [{ source: "a", target: "b" }] } }])).toBe("a → b");
  });
});

describe("series", () => {
  it("of frames of different lengths share one axis without making up values", () => {
    const fine = { t_s: [0.5, 1, 1.5, 2], values: [1, null, 3, 4] };
    const coarse = { t_s: [1, 2], values: [10, 20] };
    expect(onOneAxis([fine, coarse])).toEqual({
      t_s: [0.5, 1, 1.5, 2],
      columns: [
        [1, null, 3, 4],
        [undefined, 10, undefined, 20],
      ],
    });
    expect([0.2, 1.2, 2, 2.5].map((moment_s) => valueAt(coarse, moment_s))).toEqual([10, 20, 20, null]);
  });
});

describe("figures", () => {
  it("stand against the first run; what nobody has is left out", () => {
    const rows = figureRows([
      { summary: { latency_ms: { p99: 10 }, late: 0, lost: 0 } },
      { summary: { latency_ms: { p99: 15 }, late: 0, lost: 4 } },
      { summary: null },
    ]);
    expect(rows.map(({ label, values, changes }) => [label, values, changes])).toEqual([
      ["Latency, p99", [10, 15, null], [0, 0.5, null]],
      ["Lost with hosts", [0, 4, null], [0, null, null]],
    ]);
    const scaled = (workers: number) => ({ summary: { scaling: { worker_hours: workers, wait_s: { mean: 2 * workers }, actions: 0 } } });
    expect(figureRows([scaled(4), scaled(2)]).map(({ label, values, changes }) => [label, values, changes])).toEqual([
      ["Wait in topics, mean", [8, 4], [0, -0.5]],
      ["Instance hours", [4, 2], [0, -0.5]],
    ]);
  });
});

describe("the baseline of an experiment", () => {
  const run = (number: number, experiment = "e") => ({ id: `r${number}`, number, experiment: { id: experiment, name: "" } });
  const baselines = new Map([["e", { experiment: "e", run: "r3", number: 3, metrics: {} }]]);

  it("comes first, also where it was not chosen, as far as there is room", () => {
    expect(withBaseline([run(5), run(3), run(4)], baselines)).toEqual(["r3", "r4", "r5"]);
    expect(withBaseline([run(5)], baselines)).toEqual(["r3", "r5"]);
    expect(withBaseline([1, 2, 4, 5].map((number) => run(number)), baselines)).toEqual(["r1", "r2", "r4", "r5"]);
  });

  it("is none of runs of several experiments", () => {
    expect(withBaseline([run(5), run(4, "other")], baselines)).toEqual(["r4", "r5"]);
    expect(withBaseline([run(5, "other")], baselines)).toEqual(["r5"]);
  });
});

const side = (run: string, seeds: number[], more: Partial<ComparedSide> = {}): ComparedSide => ({
  run,
  runs: seeds.map((seed) => ({ id: `${run}${seed}`, number: seed, seed })),
  under_way: [],
  twin: false,
  over_seeds: {},
  against: {},
  differs: [],
  differs_count: 0,
  ...more,
});

describe("over seeds", () => {
  it("figures are means, and changes have bounds; one run a side has none", () => {
    const runs = [{ summary: { latency_ms: { p99: 9 } } }, { summary: { latency_ms: { p99: 99 } } }];
    const mean = (value: number) => ({ "latency_ms.p99": { mean: value, low: null, high: null, count: 2 } });
    const against = { "latency_ms.p99": { difference: 5, low: 4, high: 6, p: 0.01, pairs: 2, distinguishable: true } };
    const wide = [side("a", [1, 2], { over_seeds: mean(10) }), side("b", [1, 2], { over_seeds: mean(15), against })];
    const sure = { low: 0.4, high: 0.6, p: 0.01, pairs: 2, distinguishable: true };
    expect(figureRows(runs, wide)[0]).toMatchObject({ values: [10, 15], changes: [0, 0.5], sure: [null, sure] });
    expect(figureRows(runs, [side("a", [1]), side("b", [1])])[0]).toMatchObject({ values: [9, 99], sure: [null, null] });
  });

  it("every side gets the seeds that any has, and new ones up to five", () => {
    const runs = [{ id: "a", seed: 1 }, { id: "b", seed: 7 }];
    const wanted = seedsToRun(runs, [side("a", [1]), side("b", [7], { under_way: [2] })]);
    expect(wanted.filter(({ run }) => run === "a").map(({ seed }) => seed)).toEqual([7, 2, 3, 4]);
    expect(wanted.filter(({ run }) => run === "b").map(({ seed }) => seed)).toEqual([1, 3, 4]);
    expect(seedsToRun(runs, [side("a", [1, 2, 3, 4, 7]), side("b", [1, 2, 3, 4, 7])])).toEqual([]);
  });
});

describe("alignment", () => {
  const whole = { document: {}, horizon_s: 30, parent: null, fork_at_s: null };
  const run = (id: string, more: object = {}) => ({ run: { id, ...whole, ...more }, frames: [] as Frame[] });

  it("is on the first fault that was wanted or the first death, whichever is earlier", () => {
    const faulty = run("a", { document: { faults: [{ kind: "kill", host: "w", when: { kind: "at", at_s: 9 } }, { kind: "delay", from_s: 4 }] } });
    const died = { ...run("b"), frames: [{ deaths: [{ host: "w", at_s: 3.5 }] }] as unknown as Frame[] };
    expect(momentsOf("fault", [faulty, died, run("c")], [])).toEqual([4, 3.5, null]);
  });

  it("is on the fork, of the parent on that of its first child here", () => {
    const all = [run("a"), run("b", { parent: "a", fork_at_s: 6 }), run("c", { parent: "a", fork_at_s: 5 }), run("d")];
    expect(momentsOf("fork", all, [])).toEqual([5, 6, 5, null]);
  });

  it("is on moments of an address, whatever stands there", () => {
    expect(momentsIn("3.5,x,-2", 4)).toEqual([3.5, 0, 0, 0]);
    expect(momentsOf("own", [run("a")], [2])).toEqual([2]);
  });
});

it("an address names each run once, and not too many", () => {
  expect(idsOf("a,b,a,,c,d,e")).toEqual(["a", "b", "c", "d"]);
  expect(compareLink(["a", "b"])).toBe("/compare?runs=a,b");
});
