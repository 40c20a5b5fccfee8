import { describe, expect, it } from "vitest";
import type { Json, Kind, StudyResults } from "../../api/types";
import { comparing, engineAxis, executable, matrixOf } from "./engines";
import type { StudyDocument } from "./study";

const EXPERIMENT = {};
const RATE = {
  pointer: "/workload/sources/clicks/rate/per_s",
  label: "Rate",
  path: [],
  unit: "",
  range: "",
  description: "",
  value: 100,
  given: true,
  type: "number" as const,
  choices: [],
};
const KINDS = ["flink", "spark", "storm"];
const VALUES = KINDS.map((kind) => ({ kind }));
const STUDY = { experiment: EXPERIMENT, ...comparing({ experiment: EXPERIMENT }, VALUES, [RATE]) } as StudyDocument;

const interval = (mean: number, low: number | null = null, high: number | null = null) => ({ mean, low, high, count: 3 });
const search = (point: number, kind: string, sustained: number, more: object = {}) => ({
  point,
  values: { engine: { kind }, ...more },
  seed: 1,
  tried: [{}],
  over: true,
  sustained,
  failed: null,
  failure: null,
});
const at = (point: number, share: number, kind: string, [mean, min, p99]: [number, number, number], more: object = {}) => ({
  point,
  share,
  values: { engine: { kind }, ...more },
  runs: [],
  assertions: [],
  over_seeds: { "latency_ms.mean": interval(mean), "latency_ms.min": interval(min), "latency_ms.p99": interval(p99), "latency_ms.max": interval(p99) },
});
const results = (points: object[], found: object[]) => ({ points, found, count: points.length }) as unknown as StudyResults;

describe("a study of which engine", () => {
  it("has every engine as an axis, and searches for what each sustains", () => {
    expect(engineAxis(STUDY)?.values).toEqual({ kind: "list", of: [{ kind: "flink" }, { kind: "spark" }, { kind: "storm" }] });
    expect(STUDY.search).toMatchObject({ kind: "sustainable", shares: [0.9, 1], load: { fields: [RATE.pointer], multiply: true } });
    expect(STUDY.seeds).toEqual([1, 2, 3]);
  });

  it("keeps other axes, the seeds and the load that were chosen", () => {
    const load = { name: "rate", fields: [RATE.pointer], values: { kind: "between", from: 10, to: 20 } };
    const size = { name: "size_s", fields: ["/x"], values: { kind: "list", of: [8, 60] } };
    const chosen = { experiment: EXPERIMENT, axes: [size], seeds: [4, 5], search: { kind: "sustainable", load } } as StudyDocument;
    const { axes, search: found, seeds } = comparing(chosen, VALUES, [RATE]);
    expect([axes?.map(({ name }) => name), found?.load, seeds]).toEqual([["size_s", "engine"], load, [4, 5]]);
    expect(comparing({ ...chosen, axes: axes ?? [] }, [{ kind: "flink" }], [RATE]).axes?.map(({ name }) => name)).toEqual(["size_s", "engine"]);
  });
});

describe("which engines can execute an experiment", () => {
  const engines = ["none", ...KINDS].map((kind) => ({ kind, title: kind, compared: kind !== "none" })) as unknown as Kind[];
  /** Storm and Spark have no credits, Spark needs windows of whole batches, and a fault of the experiment's own is told by all. */
  const errorsOf = (document: Json) => {
    const { policies, size_s } = document as { policies: { engine: Json; flow_control?: Json }; size_s: number };
    const { kind, batch_s = 4 } = policies.engine as { kind: string; batch_s?: number };
    const credits = policies.flow_control !== undefined && (kind === "spark" || kind === "storm") ? ["no credits"] : [];
    return Promise.resolve(["of its own", ...credits, ...(kind === "spark" && size_s % batch_s ? ["no multiple"] : [])]);
  };

  it("all can, Spark with batches that windows are multiples of", async () => {
    const experiment = { size_s: 10, policies: {} };
    const values = [{ kind: "flink" }, { kind: "spark", batch_s: 2 }, { kind: "storm" }];
    expect(await executable(experiment, engines, errorsOf)).toEqual({ experiment, values, said: [] });
  });

  it("policies that engines bring along themselves are left to them, for all alike", async () => {
    const found = await executable({ size_s: 8, policies: { flow_control: { kind: "credits" } }, prices: "reference" }, engines, errorsOf);
    expect(found).toEqual({ experiment: { size_s: 8, policies: {} }, values: VALUES, said: ["Left to the engines: flow control, prices."] });
  });

  it("an axis over the engines finds policies to set one in", async () => {
    expect((await executable({ size_s: 8 }, engines, errorsOf)).experiment).toEqual({ size_s: 8, policies: {} });
  });

  it("who cannot is left out, with the reason", async () => {
    const experiment = { size_s: 0.3 };
    const { values, said } = await executable(experiment, engines, errorsOf);
    expect([values, said]).toEqual([[{ kind: "flink" }, { kind: "storm" }], ["spark is left out: no multiple"]]);
  });
});

describe("the matrix", () => {
  it("names the best engine where it is clearly best", () => {
    const matrix = matrixOf(
      STUDY,
      results(
        [at(0, 1, "flink", [400, 4, 5000]), at(1, 1, "spark", [3600, 2500, 5900]), at(2, 1, "storm", [1400, 70, 3400])],
        [search(0, "flink", 3), search(1, "spark", 1), search(2, "storm", 1.01)],
      ),
    );
    const shown = matrix?.rows.map(({ title, best }) => [title, best === null ? null : KINDS[best]]);
    expect(shown).toEqual([
      ["Sustainable load, ×", "flink"],
      ["Mean latency", "flink"],
      ["Longest latency", "storm"],
      ["Spread of the latency", "spark"],
      ["Mean latency at 90 %", null],
      ["Longest latency at 90 %", null],
      ["Spread of the latency at 90 %", null],
    ]);
  });

  it("names none where seeds differ more than engines, or the search cannot tell", () => {
    const close = matrixOf(STUDY, results([], [search(0, "flink", 1), search(1, "spark", 1), search(2, "storm", 1.01)]));
    expect(close?.rows[0]?.best).toBeNull();
    const seeds = [search(0, "flink", 1), search(0, "flink", 3), search(1, "spark", 1.5), search(2, "storm", 1)];
    expect(matrixOf(STUDY, results([], seeds))?.rows[0]?.best).toBeNull();
  });

  it("says under each condition how much of its throughput an engine keeps", () => {
    const sizes = { ...STUDY, axes: [{ name: "size_s", fields: ["/x"], values: { kind: "list", of: [8, 60] } }, ...(STUDY.axes ?? [])] };
    const found = KINDS.flatMap((kind, n) => [search(n, kind, 2, { size_s: 8 }), search(3 + n, kind, n + 0.5, { size_s: 60 })]);
    const kept = matrixOf(sizes, results([], found))?.rows.filter(({ title }) => title === "Throughput kept");
    expect(kept).toMatchObject([{ condition: "size s 60", unit: "%", best: 2, cells: [{ value: 25 }, { value: 75 }, { value: 125 }] }]);
  });

  it("tells an engine with other settings apart", () => {
    const engines: Json[] = [{ kind: "spark" }, { kind: "spark", batch_s: 2 }];
    const twice = { experiment: EXPERIMENT, ...comparing({ experiment: EXPERIMENT }, engines, [RATE]) };
    const found = [search(0, "spark", 1), { ...search(1, "spark", 2), values: { engine: { kind: "spark", batch_s: 2 } } }];
    expect(matrixOf(twice, results([], found))?.rows[0]).toMatchObject({ cells: [{ value: 1 }, { value: 2 }], best: 1 });
  });

  it("is there only if engines are compared", () => {
    expect(matrixOf({ experiment: EXPERIMENT, axes: [] }, results([], []))).toBeNull();
  });
});
