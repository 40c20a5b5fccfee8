import { describe, expect, it } from "vitest";
import type { Frame, Kind } from "../../api/types";
import { forkBody, otherSchedulings } from "./fork";
import { logOf } from "./frames";
import { hostsAt, isScheduled, policyAt, reason, stateOf, turns, valueOf, valuesOf } from "./scheduling";

const query = (rank: number, runs: boolean, waiting = 5, slack_ms = rank) => ({ rank, runs, waiting, why: { slack_ms, cost_ms: 2 } });
const about = { policy: "Klink", cycles: 3, switches: 4, messages: 2, message_bytes: 900, overhead: 0.004, hit_rate: 0.95, width_ms: 300, memory_mode_s: 0 };
const latency = { count: 0, mean: null, p50: null, p95: null, p99: null, max: null };
const frame = (n: number, queries: Record<string, ReturnType<typeof query>>): Frame => ({
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
const log = logOf([
  frame(0, { a: query(2, false), b: query(1, true), c: query(3, false, 0) }),
  frame(1, { a: query(1, true), b: query(2, false), c: query(3, false) }),
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
    expect(hostsAt(log, 1)[0]?.frees_memory).toBe(true);
    expect([0, 1].map((n) => hostsAt(log, n)[0]?.heard)).toEqual([[], [{ from: "v", age_ms: 120.5 }]]);
    expect(hostsAt(logOf([]), -1)).toEqual([]);
  });

  it("says why a query did not run", () => {
    const rows = hostsAt(log, 0)[0]?.rows ?? [];
    expect(rows.map(stateOf)).toEqual(["Runs", "Passed over", "Empty"]);
    expect(rows.map((row) => reason(row, rows))).toEqual([
      "b runs: it comes first.",
      "a is passed over: the cores go to b.",
      "c does not run: nothing waits at its operators.",
    ]);
    const many = ["p", "q", "r", "s", "t"].map((query, k) => ({ query, rank: k + 1, runs: k < 4, waiting: 1, why: {} }));
    expect([1, 2, 4].map((k) => reason(many[k] as (typeof many)[0], many))).toEqual([
      "q runs: p leaves it a core.",
      "r runs: p, q leave it a core.",
      "t is passed over: the cores go to p, q and 2 more.",
    ]);
    const held = [{ query: "p", rank: 1, runs: false, waiting: 1, why: {} }];
    expect(reason(held[0] as (typeof held)[0], held)).toBe("p is passed over: the policy holds the cores for others.");
  });

  it("shows who was started frame by frame", () => {
    expect(turns(log, "w", 1, 60)).toEqual([
      { query: "a", runs: [false, true] },
      { query: "b", runs: [true, false] },
      { query: "c", runs: [false, false] },
    ]);
    expect(turns(log, "w", 1, 1)[0]).toEqual({ query: "a", runs: [true] });
  });

  it("names values that only their policy knows as it names them", () => {
    expect(valueOf("slack_ms").label).toBe("Slack");
    expect(valueOf("longest_queue").label).toBe("longest queue");
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
  const on = (processor: string, scheduling?: string) => {
    const policies = scheduling ? { scheduling: { kind: scheduling } } : {};
    return { cluster: { hosts: [{ processor: { kind: processor } }] }, policies } as never;
  };

  it("offers the others where cores are a pool", () => {
    expect(otherSchedulings(on("pool", "klink"), { schedulings }).map(({ kind }) => kind)).toEqual(["none", "fcfs"]);
    expect(otherSchedulings(on("pool"), { schedulings }).map(({ kind }) => kind)).toEqual(["klink", "fcfs"]);
    expect(otherSchedulings(on("dedicated"), { schedulings })).toEqual([]);
    expect(otherSchedulings(on("pool", "default"), { schedulings })).toEqual([]);
  });

  it("is asked for with the policy's kind", () => {
    expect(forkBody({ at_s: 5, load: "1", trouble: "none", host: "", scheduling: "fcfs" })).toEqual({ at_s: 5, scheduling: { kind: "fcfs" } });
    expect(forkBody({ at_s: 5, load: "1", trouble: "none", host: "", scheduling: "" })).toEqual({ at_s: 5 });
  });
});
