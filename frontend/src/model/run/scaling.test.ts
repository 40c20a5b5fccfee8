import { describe, expect, it } from "vitest";
import type { Kind, Registry, RescaleAction, ScalingDecision, ScalingNews } from "../../api/types";
import { coerceDocument } from "../document/coerce";
import { frame, smallDocument } from "../document/testing";
import { runEvents } from "./events";
import { logOf } from "./frames";
import {
  actionTitle,
  bandAt,
  bandsIn,
  bandText,
  changeText,
  direction,
  downOf,
  isAsked,
  isMove,
  isScaled,
  iterationAt,
  knownAt,
  parallelismAt,
  partsOf,
  partsText,
  probed,
  rescaleProbe,
  relocates,
  rescaleRefusal,
  ScalingHistory,
  stairs,
  requestTold,
  valueTold,
  verticesOf,
  whyNot,
} from "./scaling";

const kind = (name: string, facts: Partial<Kind>): Kind => ({
  kind: name, title: name, family: "", group: "", icon: "", doc: "", source: "", schema: {}, inputs: [], outputs: [], ...facts,
});
const REGISTRY: Registry = {
  scalings: [
    kind("manual", { decides_live: false }),
    kind("oracle", { decides_live: false }),
    kind("ds2", { decides_live: true }),
    kind("move", { decides_live: false, relocates: true }),
    kind("online_monitor", { decides_live: true, relocates: true }),
  ],
  checkpointings: [
    kind("none", { rescalable: true }),
    kind("coordinated", { rescalable: true }),
    kind("communication_induced", { rescalable: false }),
  ],
};

const action = (extra: Partial<RescaleAction> = {}): RescaleAction => ({
  number: 1,
  kind: "stop_and_restart",
  who: "policy",
  ordered_s: 735,
  stopped_s: 735.001,
  drained_s: 736.4,
  stored_s: 736.5,
  arranged_s: 776.5,
  restored_s: 776.6,
  ended_s: 776.7,
  before: { bids: 6, window: 20 },
  after: { bids: 6, window: 24 },
  state_bytes: 4e6,
  moved_bytes: 2e6,
  lag_before: 0,
  lag_after: 4.6e7,
  outcome: "done",
  why: "",
  ...extra,
});
const OPEN = { drained_s: null, stored_s: null, arranged_s: null, restored_s: null, ended_s: null, outcome: "" as const };

const news = (extra: Partial<ScalingNews> = {}): ScalingNews => ({
  workers: 26,
  parallelism: { bids: 6, window: 20 },
  wanted: { bids: 6, window: 20 },
  state: "running",
  until_s: null,
  next_s: null,
  lag: { bids: 0 },
  topic_wait_ms: 100,
  oldest_wait_s: 0.1,
  decisions: [],
  actions: [],
  ...extra,
});

const decision = (t_s: number, extra: Partial<ScalingDecision> = {}): ScalingDecision => ({
  t_s,
  read: [],
  bottlenecks: [],
  values: [],
  advice: {},
  steps: [],
  verdict: "keep",
  why: "",
  ...extra,
});

const under = (scaling: object) => coerceDocument({ ...smallDocument(), policies: { scaling } });
const DS2 = under({ kind: "ds2" });

/** Frames of 15 s with one rescale, told as it goes on. */
function rescaled(): ScalingHistory {
  const history = new ScalingHistory();
  const wanted = { bids: 6, window: 24 };
  history.add(news({ decisions: [decision(720)], next_s: 735 }), 720);
  const ordered = decision(735, { verdict: "order", bottlenecks: ["window"], advice: { window: 20 } });
  history.add(news({ decisions: [ordered], actions: [action({ ...OPEN, stopped_s: null })], wanted, state: "stopping" }), 735);
  history.add(news({ actions: [action({ ...OPEN, drained_s: 736.4, stored_s: 736.5 })], wanted, state: "restarting", until_s: 776.5 }), 750);
  history.add(news({ wanted, state: "restarting", until_s: 776.5 }), 765);
  history.add(news({ actions: [action()], parallelism: wanted, wanted, workers: 30, state: "cooldown", until_s: 1043, next_s: 1058 }), 780);
  return history;
}

describe("the history of scaling", () => {
  it("puts together what is told of a rescale bit by bit", () => {
    const { actions, decisions } = rescaled();
    expect(actions).toEqual([action()]);
    expect(decisions.map(({ t_s }) => t_s)).toEqual([720, 735]);
  });
  it("has a staircase with steps where the arrangement took place and where the order was given", () => {
    const history = rescaled();
    expect(history.steps.map(({ t_s, parallelism }) => [t_s, parallelism.window])).toEqual([[0, 20], [776.5, 24]]);
    expect(history.wishes.map(({ t_s, parallelism }) => [t_s, parallelism.window])).toEqual([[0, 20], [735, 24]]);
    expect(stairs(history, ["bids", "window"], 780)).toEqual({
      t_s: [0, 735, 776.5, 780],
      columns: [[6, 6, 6, 6], [20, 20, 24, 24]],
      wish: [26, 30, 30, 30],
    });
    expect(stairs(new ScalingHistory(), ["bids"], 0)).toEqual({ t_s: [], columns: [[]], wish: [] });
  });
  it("takes what the frames say where no rescale tells of it", () => {
    const history = new ScalingHistory();
    history.add(news(), 15);
    history.add(news({ parallelism: { bids: 6, window: 8 } }), 30);
    expect(history.steps.map(({ t_s }) => t_s)).toEqual([0, 30]);
    const early = new ScalingHistory();
    const only = action({ ordered_s: 2, arranged_s: 5 });
    early.add(news({ parallelism: { bids: 6, window: 24 }, wanted: { bids: 6, window: 24 }, actions: [only] }), 15);
    expect(early.steps.map(({ t_s, parallelism }) => [t_s, parallelism.window])).toEqual([[0, 20], [5, 24]]);
    expect(early.wishes.map(({ t_s }) => t_s)).toEqual([0, 2]);
  });
  it("leaves an aborted rescale out of the staircase", () => {
    const history = new ScalingHistory();
    history.add(news(), 15);
    history.add(news({ actions: [action({ ...OPEN, ordered_s: 16, stopped_s: 16, ended_s: 20, outcome: "aborted", why: "the store is full" })] }), 30);
    expect(history.steps).toHaveLength(1);
  });
  it("finds the iteration and the phase at a moment", () => {
    const history = rescaled();
    expect(history.decisionAt(719)).toBeUndefined();
    expect([720, 734.9, 735, 780].map((t_s) => history.decisionAt(t_s)?.t_s)).toEqual([720, 720, 735, 735]);
    expect(history.numberAt(740)).toBe(1);
    expect([700, 720, 735, 736, 765, 780, 999].map((t_s) => history.phaseAt(t_s)?.state)).toEqual([
      "running", "running", "stopping", "restarting", "restarting", "cooldown", "cooldown",
    ]);
    expect(history.actionOf(history.decisions[1] as ScalingDecision)?.number).toBe(1);
    expect(history.actionOf(history.decisions[0] as ScalingDecision)).toBeUndefined();
  });
});

describe("a rescale in place", () => {
  it("has parts of its own, also where no source stops", () => {
    const inPlace = action({ kind: "in_place" });
    expect(partsOf(inPlace).map(({ label }) => label)).toEqual(["wait", "drain", "store", "switch", "fetch", "start"]);
    const apart = partsOf({ ...inPlace, stopped_s: null, lag_before: null, lag_after: null });
    expect(apart.map(({ from_s, to_s }) => [from_s, to_s])).toEqual([
      [735, 736.4],
      [736.4, 736.4],
      ...partsOf(inPlace)
        .slice(2)
        .map(({ from_s, to_s }) => [from_s, to_s]),
    ]);
  });
});

describe("the time to drain", () => {
  const LOW = 100; // as many as come in a second
  const after = (lags: number[], extra: Partial<RescaleAction> = {}) => {
    const history = new ScalingHistory();
    history.add(news({ actions: [action(extra)], lag: { bids: 4.5e7 } }), 780, LOW);
    lags.forEach((lag, n) => history.add(news({ lag: { bids: lag, asks: 0 } }), 795 + 15 * n, LOW));
    return history;
  };
  const drain = (history: ScalingHistory, over = false) => history.drainOf(history.actions[0] as RescaleAction, over);
  it("ends with the frame at whose end no more wait than come in a second, or waited before", () => {
    expect(drain(after([5000, 101, 100, 0]))).toEqual({ seconds: 825 - 776.7, why: "" });
    expect(drain(after([5000, 3000, 100], { lag_before: 3000 }))).toEqual({ seconds: 810 - 776.7, why: "" });
    const history = after([5000]);
    history.add(news({ lag: { bids: 60, asks: 60 } }), 810, LOW); // topics together
    expect(drain(history).seconds).toBeNull();
  });
  it("is nothing where nothing piled up", () => expect(drain(after([5000], { lag_after: 80 }))).toEqual({ seconds: 0, why: "" }));
  it("is not known, and why", () => {
    expect(drain(after([5000]))).toEqual({ seconds: null, why: "Not yet: 5,000 records are waiting" });
    expect(drain(after([5000]), true).why).toBe("5,000 records were waiting at the end of the run");
    expect(drain(after([], { ...OPEN, lag_after: null })).why).toContain("has not resumed yet");
    const aborted = { outcome: "aborted" as const, ended_s: 735, why: "no" };
    expect(drain(after([], { ...OPEN, ...aborted, stopped_s: null, lag_before: null, lag_after: null })).why).toBe("No source stopped");
    expect(drain(after([5000, 50], { ...OPEN, ...aborted, ended_s: 770 }))).toEqual({ seconds: 40, why: "" }); // it went on where it was
    expect(drain(after([], { ...OPEN, outcome: "aborted", ended_s: null })).why).toBe("It did not resume");
  });
  it("is cut off by the next rescale that stops", () => {
    const history = after([5000]);
    const none = action({ ...OPEN, number: 2, ordered_s: 800, stopped_s: null, ended_s: 801, outcome: "aborted" });
    history.add(news({ lag: { bids: 400 }, actions: [none, action({ ...OPEN, number: 3, ordered_s: 802, stopped_s: 803 })] }), 810, LOW);
    history.add(news({ lag: { bids: 0 } }), 825, LOW);
    expect(drain(history).why).toBe("Rescale 3 stopped the sources at 803 s, before it had drained");
  });
});

describe("the iteration on show", () => {
  const history = new ScalingHistory();
  history.add(news({ decisions: [135, 150, 165, 180].map((t_s) => decision(t_s)) }), 180);
  history.add(news({ decisions: [decision(195)] }), 240);
  it("is the last one of the frame, or the chosen one of several", () => {
    expect(iterationAt(history, 180, null)).toBe(3);
    for (const number of [2, 1, 0, 3]) expect(iterationAt(history, 180, { number, moment_s: 180 })).toBe(number);
  });
  it("is chosen for one moment alone, and only from those that there are", () => {
    expect(iterationAt(history, 240, { number: 1, moment_s: 180 })).toBe(4);
    expect(iterationAt(history, 240, { number: 9, moment_s: 240 })).toBe(4);
    expect(iterationAt(history, 100, null)).toBe(-1);
  });
});

describe("bands of rescales", () => {
  it("reach from the order to the end, and are down from the stop on", () => {
    const [band] = bandsIn(rescaled(), { from_s: 0, to_s: 800 });
    expect(band).toMatchObject({ from_s: 735, to_s: 776.7, down: { from_s: 735.001, to_s: 776.7 } });
    expect(bandsIn(rescaled(), { from_s: 0, to_s: 700 })).toEqual([]);
    expect(bandsIn(rescaled(), { from_s: 777, to_s: 800 })).toEqual([]);
  });
  it("are found at a moment, or near it", () => {
    const bands = bandsIn(rescaled(), { from_s: 0, to_s: 800 });
    expect(bandAt(bands, 740)?.action.number).toBe(1);
    expect(bandAt(bands, 733)).toBeNull();
    expect(bandAt(bands, 733, 5)?.action.number).toBe(1);
  });
  it("consist of parts, the last of which goes on", () => {
    expect(partsOf(action()).map(({ id, from_s, to_s }) => [id, Number(((to_s ?? 0) - from_s).toFixed(3))])).toEqual([
      ["wait", 0.001], ["drain", 1.399], ["store", 0.1], ["restart", 40], ["fetch", 0.1], ["start", 0.1],
    ]);
    expect(partsText(action({ kind: "in_place" }), 800)).toContain("switch 40");
    expect(partsText(action(), 800)).toContain("restart 40");
    expect(partsOf(action(OPEN)).map(({ id, to_s }) => [id, to_s])).toEqual([["wait", 735.001], ["drain", null]]);
    const aborted = action({ ...OPEN, ended_s: 740, outcome: "aborted", why: "host w2 was lost" });
    expect(partsOf(aborted).at(-1)).toMatchObject({ id: "drain", to_s: 740 });
    expect(bandText(aborted, 800)).toContain("aborted: host w2 was lost");
    expect(downOf(action())).toBeCloseTo(41.699);
    expect(downOf(action(OPEN))).toBeNull();
    expect(bandText(action(), 800)).toContain("window 20 → 24; wait 1 ms, drain 1.4 s, store 100 ms, restart 40 s");
    expect(bandText(action(OPEN), 745)).toContain("drain since 10 s");
    expect(partsText(action(OPEN), 745)).toBe("wait 1 ms, drain since 10 s");
  });
  it("are known bit by bit", () => {
    expect(knownAt(action(), 734)).toBeUndefined();
    expect(knownAt(action(), 736.45)).toMatchObject({ drained_s: 736.4, stored_s: null, arranged_s: null, ended_s: null, outcome: "" });
    expect(knownAt(action(), 800)).toEqual(action());
  });
  it("say what changes, and in which direction", () => {
    expect(changeText(action())).toBe("window 20 → 24");
    expect([action(), action({ after: { window: 10 } }), action({ after: { bids: 6 } })].map(direction)).toEqual([1, -1, 0]);
  });
});

describe("why nothing happens", () => {
  const at = (extra: Partial<ScalingNews>, document = DS2) => {
    const history = new ScalingHistory();
    history.add(news(extra), 750);
    return whyNot(history, document, isAsked(document, REGISTRY), 750);
  };
  it("names the cooldown, the order it is behind, and the next iteration", () => {
    expect(whyNot(rescaled(), DS2, true, 780)).toEqual({
      text: "Cooldown after the order at 735 s, until 1,043 s: the policy reads no metrics and makes no decisions. The next iteration is at 1,058 s.",
      tone: "warn",
    });
  });
  it("names the step of a rescale that is under way", () => {
    expect(whyNot(rescaled(), DS2, true, 750).text).toBe("Rescale 1 is in progress: the job restarts, until 776.5 s. The policy makes no decisions until it ends.");
  });
  it("says that the run ended meanwhile", () => {
    const history = new ScalingHistory();
    const open = action({ ...OPEN, drained_s: 736.4 });
    history.add(news({ actions: [open], state: "stopping" }), 750);
    history.add(news({ state: "restarting", until_s: 776.5 }), 765);
    const told = (t_s: number, over: boolean) => whyNot(history, DS2, true, t_s, undefined, over).text;
    expect(told(765, false)).toBe("Rescale 1 is in progress: the job restarts, until 776.5 s. The policy makes no decisions until it ends.");
    expect(told(765, true)).toBe("Rescale 1 was still in progress when the run ended, at 765 s: the job restarts.");
    expect(told(750, true)).toBe("Rescale 1 was still in progress when the run ended, at 765 s: records in progress are processed, up to the savepoint.");
    expect([false, true].map((over) => history.drainOf(open, over).why)).toEqual(["In progress: it has not resumed yet", "The run ended first"]);
    expect(whyNot(rescaled(), DS2, true, 750, undefined, true).text).toContain("Rescale 1 is in progress: the job restarts, until 776.5 s.");
  });
  it("speaks of no iteration and of no recovery to come once the run has ended", () => {
    const text = (extra: Partial<ScalingNews>) => {
      const history = new ScalingHistory();
      history.add(news(extra), 750);
      return whyNot(history, DS2, true, 750, undefined, true).text;
    };
    expect(text({ decisions: [decision(735)], next_s: 765 })).toBe("Nothing to do: the requested parallelism is already running.");
    expect(text({ state: "restoring" })).toBe("A recovery was still in progress when the run ended, at 750 s.");
  });
  it("tells a recovery from a rescale", () => {
    expect(at({ state: "restoring" }).text).toContain("A recovery is in progress");
    const history = rescaled();
    history.add(news({ state: "restoring" }), 795);
    expect(whyNot(history, DS2, true, 795).text).toContain("A recovery is in progress");
  });
  it("gives the policy's own reason", () => {
    const text = (extra: Partial<ScalingDecision>) => at({ decisions: [decision(735, extra)], next_s: 765 }).text;
    expect(text({})).toBe("Nothing to do: the requested parallelism is already running. The next iteration is at 765 s.");
    expect(text({ why: "it takes 80 workers, and there are 70" })).toContain("Nothing to do: it takes 80 workers, and there are 70.");
    expect(text({ verdict: "no_metrics", why: "bids has been read only once since it started" })).toContain("Skipped for lack of metrics: bids has");
    expect(text({ verdict: "busy", why: "a rescale is in progress" })).toContain("Skipped: a rescale is in progress");
    expect(text({ verdict: "order", why: "there are bottlenecks" })).toContain("There are bottlenecks. A rescale was ordered.");
  });
  it("speaks of the iteration that is on show", () => {
    const history = new ScalingHistory();
    const decisions = [
      decision(135, { verdict: "no_metrics", why: "bids has no sample" }),
      decision(150, { verdict: "order", why: "there are bottlenecks" }),
      decision(165, { verdict: "busy", why: "a rescale is in progress" }),
      decision(180),
    ];
    const aborted = action({ ...OPEN, ordered_s: 150, stopped_s: null, ended_s: 152, outcome: "aborted", why: "the store is full" });
    history.add(news({ decisions, actions: [aborted], state: "cooldown", until_s: 300, next_s: 315 }), 240);
    const texts = [0, 1, 2].map((number) => whyNot(history, DS2, true, 240, number).text);
    expect(texts[0]).toBe("Skipped for lack of metrics: bids has no sample.");
    expect(texts[1]).toBe("Rescale 1 was aborted: the store is full.");
    expect(texts[2]).toBe("Skipped: a rescale is in progress.");
    expect(whyNot(history, DS2, true, 240, 3)).toEqual(whyNot(history, DS2, true, 240)); // the last one: what is going on
    expect(whyNot(history, DS2, true, 240).text).toContain("Cooldown after the order at 150 s, until 300 s");
  });
  it("tells of the start, and of an aborted order", () => {
    expect(at({ state: "starting", next_s: 135 }).text).toContain("only reads metrics, until 135 s");
    const aborted = action({ ...OPEN, ended_s: 740, outcome: "aborted", why: "the store is full" });
    const ordered = decision(735, { verdict: "order" });
    expect(at({ decisions: [ordered], actions: [aborted] })).toEqual({ text: "Rescale 1 was aborted: the store is full.", tone: "bad" });
    expect(at({ state: "cooldown", until_s: 1043, decisions: [ordered], actions: [aborted] }).text).toMatch(/was aborted: the store is full\. Cooldown/);
  });
  it("says who ordered where nobody is asked", () => {
    const manual = under({ kind: "manual", orders: [{ at_s: 100 }, { at_s: 900 }] });
    expect(at({ next_s: 900 }, manual).text).toBe("No policy decides: rescales happen only when ordered. The next order is at 900 s.");
    expect(at({ next_s: 765 }, under({ kind: "ds2", orders: [{ at_s: 765 }] })).text).toContain("The next order is at 765 s");
    expect(at({}, under({ kind: "manual" })).text).toContain("No orders left");
    expect(at({}, under({ kind: "oracle" })).text).toContain("decided everything before the run");
    const told = [isScaled(smallDocument()), isScaled(manual), isAsked(manual, REGISTRY), isAsked(DS2, REGISTRY)];
    expect(told).toEqual([false, true, false, true]);
    expect(whyNot(new ScalingHistory(), DS2, true, 0).text).toContain("No frame");
  });
});

describe("what is scaled", () => {
  it("moves operators together that forward edges connect", () => {
    expect(verticesOf(smallDocument())).toEqual([["persons", "filter"], ["auctions"], ["join"], ["sink"]]);
  });
  it("has the frame's parallelism, or the document's", () => {
    expect(parallelismAt(smallDocument(), { parallelism: { join: 7 } })).toMatchObject({ persons: 2, join: 7 });
    expect(parallelismAt(smallDocument(), undefined)).toMatchObject({ join: 2 });
  });
  it("cannot be where a protocol or a cycle forbids it", () => {
    expect(rescaleRefusal(smallDocument(), REGISTRY)).toBeNull();
    expect(rescaleRefusal({ ...smallDocument(), policies: { checkpointing: { kind: "coordinated" } } }, REGISTRY)).toBeNull();
    expect(rescaleRefusal({ ...smallDocument(), policies: { checkpointing: { kind: "communication_induced" } } }, REGISTRY)).toContain("communication induced");
    const { query } = smallDocument();
    const edges = [...query.edges, { source: "join", target: "filter", partitioning: { kind: "hash" }, feedback: true }];
    expect(rescaleRefusal({ query: { ...query, edges } }, REGISTRY)).toContain("cycle");
  });
  it("is asked of the server", () => {
    expect(rescaleProbe(smallDocument(), 12, "in_place").policies?.scaling).toEqual({
      kind: "manual",
      workers_max: 70,
      rescaling: { kind: "in_place" },
      orders: [{ at_s: 12, parallelism: { persons: 3, auctions: 3, join: 3, sink: 2 } }],
    });
    const { query } = smallDocument();
    const operators = query.operators.map((one) => ({ ...one, parallelism: 15 }));
    expect(operators).toHaveLength(5); // 75 instances, more than the default allows
    expect(rescaleProbe({ ...smallDocument(), query: { ...query, operators } }, 12, "in_place").policies?.scaling).toMatchObject({ workers_max: 80 });
    expect(rescaleProbe(DS2, 12, "in_place").policies?.scaling).toMatchObject({ kind: "ds2", orders: [{ at_s: 12 }] });
    const said = (pointer: string, code: string, message: string) => ({ pointer, code, message, severity: "error" as const });
    expect(
      probed([
        said("/policies/scaling/rescaling/kind", "not_there", "not there yet"),
        said("/policies/scaling/orders/0/parallelism/join", "not_scalable", "'join' stays at 2: ..."),
        said("/policies/scaling/orders/0/parallelism/persons", "out_of_range", "2 partitions"),
        said("/faults/0/kind", "not_scalable", "host 'w2' is lost"),
        { ...said("/query", "odd", "a warning"), severity: "warning" },
      ]),
    ).toEqual({ other: "not there yet", stays: { join: "'join' stays at 2: ..." }, all: "host 'w2' is lost" });
  });
  it("is told in words", () => {
    expect(valueTold("tpr", 2059984.86)).toMatchObject({ label: "true rate", text: "2.06M/s" });
    expect(valueTold("beta", 0.2)).toMatchObject({ text: "20 %" });
    expect(valueTold("opt", null)).toMatchObject({ text: "–" });
    expect([4, 12_345, 2 ** 32 - 1, 5_153_960_754].map(requestTold)).toEqual(["4", "12.3k", "no limit", "no limit"]);
    expect(valueTold("what_is_new", 3)).toMatchObject({ label: "what is new", text: "3" });
  });
});

describe("frames with scaling", () => {
  it("keep their numbers, and hand lists to the history", () => {
    const log = logOf([frame(0, { scaling: news({ actions: [action({ ...OPEN, ordered_s: 0.2, stopped_s: null })] }) })]);
    expect(log.frame(0)?.scaling?.parallelism).toEqual({ bids: 6, window: 20 });
    expect(log.scaling.actions).toHaveLength(1);
  });
  it("become events", () => {
    const log = logOf([frame(0, { scaling: news({ actions: [action({ ordered_s: 0.1, stopped_s: 0.1, ended_s: 0.2 })] }) })]);
    const run = { created_at: "2026-01-01T00:00:00Z", state: "running" } as never;
    const texts = runEvents(run, log, 0).flatMap(({ text }) => (text.startsWith("Rescale") ? [text] : []));
    expect(texts).toEqual(["Rescale 1 done", "Rescale 1 ordered by the policy: window 20 → 24"]);
  });
});

describe("operators that move", () => {
  const moved = action({ before: { filter: 1, sink: 1 }, after: { filter: 1, sink: 1 }, moves: { filter: ["gateway", "cloud"] } });
  const scaled = (kind: string) => ({ ...smallDocument(), policies: { scaling: { kind } } });

  it("are told by their hosts", () => {
    expect(changeText(moved)).toBe("filter gateway → cloud");
    expect([isMove(moved), isMove(action())]).toEqual([true, false]);
    expect([actionTitle(moved), actionTitle(action())]).toEqual(["Move 1, ordered by the policy", "Rescale 1, ordered by the policy"]);
    expect(bandText(moved, 800)).toMatch(/^Move 1, ordered by the policy: filter gateway → cloud; wait/);
    expect(changeText(action())).toBe("window 20 → 24");
    expect(valueTold("to sink", 1200)).toMatchObject({ label: "to sink", text: "1,200/s" });
  });

  it("are not rescaled", () => {
    expect(relocates(scaled("move"), REGISTRY)).toBe(true);
    expect(relocates(scaled("ds2"), REGISTRY)).toBe(false);
    expect(rescaleRefusal(scaled("online_monitor"), REGISTRY)).toBe("Operators of this run move to other hosts, with one instance each");
  });

  it("say why nothing moves", () => {
    const history = new ScalingHistory();
    history.add(news({ decisions: [], actions: [moved] }), 740);
    expect(whyNot(history, scaled("move"), false, 740).text).toContain("operators move only when ordered");
    const running = new ScalingHistory();
    running.add(news({ state: "stopping", actions: [{ ...moved, ...OPEN }] }), 740);
    expect(whyNot(running, scaled("online_monitor"), true, 740).text).toContain("Move 1 is in progress");
  });
});
