import { describe, expect, it } from "vitest";
import type { Frame, Kind } from "../../api/types";
import { forkBody, otherSchedulings } from "./fork";
import { logOf } from "./frames";
import { coresByFrame, dueOf, hitsOf, hostsAt, isScheduled, memoryByFrame, policyAt, reason, stateOf, valueOf, valuesOf, watermarksOf, whyNoCycle } from "./scheduling";

const query = (rank: number, runs: boolean, waiting = 5, slack_ms = rank) => ({ rank, runs, waiting, why: { slack_ms, cost_ms: 2 } });
const about = { policy: "Klink", cycles: 3, switches: 4, messages: 2, message_bytes: 900, overhead: 0.004, hit_rate: 0.95, width_ms: 300, memory_mode_s: 0 };
const latency = { count: 0, mean: null, p50: null, p95: null, p99: null, max: null };
const frame = (n: number, queries: Record<string, ReturnType<typeof query> & { busy_s?: number }>): Frame => ({
  n,
  t_s: (n + 1) / 4,
  latency_ms: latency,
  offered_per_s: 0,
  in_per_s: 0,
  out_per_s: 0,
  backlog: 0,
  operators: {},
  hosts: {},
  scheduling: { ...about, hosts: { w: { t_s: (n + 1) / 4, frees_memory: n === 1, queries, heard_ms: n ? { v: 120.5 } : {} } } },
});
const busy = (busy_s: number, one: ReturnType<typeof query>) => ({ ...one, busy_s });
const log = logOf([
  frame(0, { a: busy(0, query(2, false)), b: busy(0.75, query(1, true)), c: busy(0, query(3, false, 0)) }),
  frame(1, { a: busy(0.5, query(1, true)), b: busy(0.75, query(2, false)), c: busy(0, query(3, false)) }),
]);
const kind = (name: string): Kind => ({ kind: name, title: name.toUpperCase() }) as Kind;
const schedulings = ["none", "klink", "fcfs", "default", "switched"].map(kind);
const policies = (scheduling: object) => ({ policies: { scheduling } }) as never;

describe("the scheduler's last cycle", () => {
  it("lists the queries of a host by rank, with the reasons of the policy", () => {
    const [host] = hostsAt(log, 0);
    expect([host?.name, host?.t_s, host?.frees_memory]).toEqual(["w", 0.25, false]);
    expect(host?.rows.map(({ query, rank, runs, why }) => [query, rank, runs, why.slack_ms])).toEqual([
      ["b", 1, true, 1],
      ["a", 2, false, 2],
      ["c", 3, false, 3],
    ]);
    expect(valuesOf(host?.rows ?? [])).toEqual(["slack_ms", "cost_ms"]);
    const [row] = host?.rows ?? [];
    expect(row && valuesOf([{ ...row, why: { expected_ms: 4, sigma_ms: 1 } }])).toEqual(["expected_ms"]);
    expect(hostsAt(log, 1)[0]?.frees_memory).toBe(true);
    expect([0, 1].map((n) => hostsAt(log, n)[0]?.heard)).toEqual([[], [{ from: "v", age_ms: 120.5 }]]);
    expect(hostsAt(logOf([]), -1)).toEqual([]);
  });

  it("is not there once nobody chooses any more, and why", () => {
    const scheduled = frame(0, { a: query(1, true) });
    const threads = { ...scheduled, n: 1, t_s: 0.5, scheduling: { ...scheduled.scheduling, hosts: {} } };
    expect([0, 1].map((n) => hostsAt(logOf([scheduled, threads as never]), n).length)).toEqual([1, 0]);
    const switched = { policies: { scheduling: { kind: "switched", before: { kind: "klink" }, at_s: 0.3, after: { kind: "default" } } } } as never;
    const registry = { schedulings: [{ kind: "default", title: "Default (fair threads)" }] } as never;
    expect([0.1, 0.5].map((t_s) => whyNoCycle(switched, registry, t_s))).toEqual([
      "No cycle yet",
      "No cycle: scheduling is Default (fair threads)",
    ]);
  });

  it("says why a query did not run", () => {
    const rows = hostsAt(log, 0)[0]?.rows ?? [];
    expect(rows.map(stateOf)).toEqual(["Runs", "Passed over", "Empty"]);
    expect(rows.map((row) => reason(row, rows))).toEqual([
      "b runs: it comes first.",
      "a is passed over: the cores go to b.",
      "c does not run: nothing waits at its operators.",
    ]);
    const many = ["p", "q", "r", "s", "t"].map((query, k) => ({ query, rank: k + 1, runs: k < 4, waiting: 1, cores: null, why: {} }));
    expect([1, 2, 4].map((k) => reason(many[k] as (typeof many)[0], many))).toEqual([
      "q runs: p leaves it a core.",
      "r runs: p, q leave it a core.",
      "t is passed over: the cores go to p, q and 2 more.",
    ]);
    const held = [{ query: "p", rank: 1, runs: false, waiting: 1, cores: null, why: {} }];
    expect(reason(held[0] as (typeof held)[0], held)).toBe("p is passed over: the policy holds the cores for others.");
  });

  it("tells how many cores served a query, frame by frame", () => {
    expect(coresByFrame(log, "w", 1, 60)).toEqual([
      { query: "a", cores: [0, 2] },
      { query: "b", cores: [3, 0] },
      { query: "c", cores: [0, 0] },
    ]);
    expect(coresByFrame(log, "w", 1, 1)[0]).toEqual({ query: "a", cores: [2] });
    expect(hostsAt(log, 1)[0]?.rows.map(({ cores }) => cores)).toEqual([2, 0, 0]);
    const older = logOf([frame(0, { a: query(1, true) })]);
    expect(coresByFrame(older, "w", 0, 60)).toEqual([{ query: "a", cores: [null] }]);
  });

  it("draws when watermarks are expected on one scale", () => {
    const rows = [{ expected_ms: 80, sigma_ms: 10 }, { expected_ms: 20 }, {}, { expected_ms: -50, sigma_ms: 5 }].map((why, k) => ({
      query: String(k), rank: k, runs: false, waiting: 1, cores: null, why: why as Record<string, number>,
    }));
    expect(dueOf(rows)).toEqual([
      { from: 0.6, to: 1, overdue: false },
      { from: 0.2, to: 0.2, overdue: false },
      null,
      { from: 0, to: 0, overdue: true },
    ]);
  });

  it("names values that only their policy knows as it names them", () => {
    expect(valueOf("slack_ms").label).toBe("Slack");
    expect(valueOf("longest_queue").label).toBe("longest queue");
  });
});

describe("watermarks", () => {
  const input = (epochs: number, taken_s: number | null, low_s: number | null, high_s: number | null) => ({
    epochs, period_ms: 1000, delay_ms: epochs ? 100 : null, delay_sd_ms: epochs ? 50 : null, taken_s, low_s, high_s,
  });
  const framesOf = (...each: Record<string, ReturnType<typeof input>>[]) =>
    logOf(each.map((inputs, n) => frame(n, { q: { ...query(1, true), inputs } as ReturnType<typeof query> })));

  it("are placed in the intervals that were predicted for them", () => {
    const log = framesOf(
      { a: input(0, null, null, null) },
      { a: input(1, 1.2, 1, 1.4) },
      { a: input(1, 1.2, 1, 1.4) },
      { a: input(2, 2.6, 2, 2.4) },
      { a: input(3, 3, 3, 3) },
      { a: input(4, 4.5, 4, 4) },
    );
    const [row] = watermarksOf(log, "w", 5, 60);
    expect(row && { ...row, arrivals: row.arrivals.map((at) => Math.round(10 * at) / 10) }).toEqual({
      query: "q", input: "", epochs: 4, period_ms: 1000, delay_ms: 100, delay_sd_ms: 50, width_ms: 0, arrivals: [0, 2, 0, Infinity],
    });
    expect(row && hitsOf(row)).toBe(2);
    expect(watermarksOf(log, "w", 3, 1)[0]?.arrivals.map(Math.round)).toEqual([2]);
    expect(watermarksOf(log, "w", 0, 60)[0]).toMatchObject({ epochs: 0, delay_ms: null, width_ms: null, arrivals: [] });
  });

  it("name their source where a query has several", () => {
    const two = framesOf({ "a[10]": input(1, null, null, null), "a[9]": input(1, null, null, null) });
    expect(watermarksOf(two, "w", 0, 60).map((row) => row.input)).toEqual(["a[9]", "a[10]"]);
    expect(watermarksOf(log, "w", 1, 60)).toEqual([]);
  });
});

describe("memory", () => {
  const memory = (used_bytes: number) => ({ used_bytes, peak_bytes: 90, slow_down: 1, full: false });
  const filled = logOf(
    [40, 85, 60].map((used, n) => {
      const made = frame(n, { a: query(1, true) });
      const host = { ...made.scheduling?.hosts.w, memory_budget_bytes: 100, memory_mode_s: [0, 0.125, 0.25][n] };
      const scheduling = { ...made.scheduling, hosts: { w: host } };
      return { ...made, hosts: { w: { memory: memory(used) } }, scheduling } as unknown as Frame;
    }),
  );

  it("is drawn as shares of the budget, with the time in which it was freed first", () => {
    const [host] = hostsAt(filled, 2);
    expect(host && memoryByFrame(filled, policies({ kind: "klink", memory_threshold: 0.8 }), host, 2, 2)).toEqual({
      used: [0.85, 0.6], freeing: [0.5, 0.5], threshold: 0.8,
    });
    expect(host && memoryByFrame(filled, policies({ kind: "klink" }), host, 0, 60)).toEqual({ used: [0.4], freeing: [0], threshold: null });
  });

  it("has no budget where no model limits it", () => {
    const [host] = hostsAt(log, 1);
    expect(host && memoryByFrame(log, policies({ kind: "klink" }), host, 1, 60)).toBe(null);
  });
});

describe("the policy in force", () => {
  it("is that of the document, before and after a switch", () => {
    expect(policyAt(policies({ kind: "klink" }), { schedulings }, 3)).toBe("KLINK");
    const switched = { kind: "switched", before: { kind: "none" }, at_s: 2, after: { kind: "fcfs" } };
    expect([2, 2.1].map((t_s) => policyAt(policies(switched), { schedulings }, t_s))).toEqual(["NONE", "FCFS"]);
    expect(policyAt({ policies: undefined } as never, { schedulings }, 0)).toBe("NONE");
  });

  it("exists where somebody chooses who runs", () => {
    expect(["none", "default", "klink"].map((one) => isScheduled(policies({ kind: one })))).toEqual([false, false, true]);
  });
});

describe("a fork with another scheduler", () => {
  const on = (processor: string, scheduling?: string, after?: string) => {
    const policies = scheduling ? { scheduling: { kind: scheduling, after: { kind: after } } } : {};
    return { cluster: { hosts: [{ processor: { kind: processor } }] }, policies } as never;
  };

  it("offers the others where cores are a pool", () => {
    expect(otherSchedulings(on("pool", "klink"), { schedulings }).map(({ kind }) => kind)).toEqual(["none", "fcfs", "default"]);
    expect(otherSchedulings(on("pool"), { schedulings }).map(({ kind }) => kind)).toEqual(["klink", "fcfs", "default"]);
    expect(otherSchedulings(on("dedicated"), { schedulings })).toEqual([]);
    expect(otherSchedulings(on("pool", "default"), { schedulings })).toEqual([]);
    expect(otherSchedulings(on("pool", "switched", "default"), { schedulings })).toEqual([]);
  });

  it("is asked for with the policy's kind", () => {
    expect(forkBody({ at_s: 5, load: "1", trouble: "none", host: "", scheduling: "fcfs" })).toEqual({ at_s: 5, scheduling: { kind: "fcfs" } });
    expect(forkBody({ at_s: 5, load: "1", trouble: "none", host: "", scheduling: "" })).toEqual({ at_s: 5 });
  });
});
