import { describe, expect, it } from "vitest";
import type { Advice, AdviceCandidate, AdviceModels } from "../../api/types";
import {
  asksTheSame,
  comparedText,
  costText,
  drawnHosts,
  fits,
  isInPlace,
  isStale,
  NO_SETTINGS,
  outsideTexts,
  questionOf,
  rangeText,
  reasonTexts,
  relaxedText,
  rowsOf,
} from "./advice";
import { moveOperators, patchOperator, placeEach, placeOn, removeParts } from "./edits";
import { localPlacement } from "./placement";
import { smallDocument } from "./testing";

const OPERATORS = ["persons", "auctions", "filter", "join", "sink"];
const allOn = (host: string) => Object.fromEntries(OPERATORS.map((id) => [id, host]));

const candidate = (mean_ms: number, extra: Partial<AdviceCandidate> = {}): AdviceCandidate => ({
  hosts: allOn("w1"),
  origin: "drawn",
  costs: { processing_latency: [mean_ms * 0.9, mean_ms, mean_ms * 1.1] },
  mean: { processing_latency: mean_ms, end_to_end_latency: 2 * mean_ms, throughput: 812.4, success: 0.9, flows: 0.7 },
  spread: mean_ms * 0.2,
  votes: { success: 3, flows: 2 },
  members: 3,
  filtered: null,
  rule: null,
  ...extra,
});

const advice = (extra: Partial<Advice> = {}): Advice => ({
  models: "small",
  goal: "processing_latency",
  unit: "ms",
  order: [1, 0, 2],
  relaxed: [],
  cautions: [],
  outside: [],
  reasons: [],
  candidates: [
    candidate(30, { origin: "present", hosts: { ...allOn("w1"), sink: "w2" }, rule: 3 }),
    candidate(12, { origin: "all on one host", hosts: allOn("gateway") }),
    candidate(5, { filtered: "falls behind", hosts: { ...allOn("w1"), persons: "gateway" } }),
  ],
  ...extra,
});

describe("numbers of advice", () => {
  it("have the unit of their cost", () => {
    expect(costText("processing_latency", 0.05)).toBe("50 µs");
    expect(costText("end_to_end_latency", 3260)).toBe("3.26 s");
    expect(costText("throughput", 14_900)).toBe("14.9k records/s");
  });

  it("span the members, with one unit where one is enough", () => {
    expect(rangeText("processing_latency", [13.9, 11.2, 12])).toBe("11.2–13.9 ms");
    expect(rangeText("processing_latency", [870, 1200])).toBe("870 ms – 1.2 s");
    expect(rangeText("throughput", [812, 640])).toBe("640–812");
    expect(rangeText("throughput", [812])).toBe("");
    expect(rangeText("throughput", [])).toBe("");
  });

  it("compare with the present placement, by what the goal wants", () => {
    expect(comparedText("processing_latency", 12, 30)).toBe("2.5 times better");
    expect(comparedText("processing_latency", 60, 30)).toBe("2 times worse");
    expect(comparedText("throughput", 60, 30)).toBe("2 times better");
    expect(comparedText("throughput", 30.5, 30)).toBe("about the same");
    expect(comparedText("throughput", 30, undefined)).toBe("");
    expect(comparedText("throughput", 30, 0)).toBe("");
  });
});

describe("rows of advice", () => {
  it("stand in the order of the answer; what was filtered out has no rank", () => {
    const rows = rowsOf(advice());
    expect(rows.map(({ number }) => number)).toEqual([1, 0, 2]);
    expect(rows.map(({ place }) => place)).toEqual([1, 2, 3]);
    expect(rows.map(({ rank }) => rank)).toEqual([1, 2, null]);
    expect(rows.map(({ filtered }) => filtered)).toEqual(["", "", "predicted to fall behind"]);
    expect(rowsOf(advice({ order: [7] }))).toEqual([]);
  });

  it("say what is predicted, and by how many models", () => {
    const [best] = rowsOf(advice());
    expect(best).toMatchObject({
      predicted: ["12", "ms"],
      range: "10.8–13.2 ms",
      compared: "2.5 times better",
      others: ["24 ms end to end", "812 records/s"],
      votes: ["3 of 3 deliver", "2 of 3 keep up"],
      used: "1 host",
      origin: "all on one host",
      isPresent: false,
    });
    expect(best?.told).toBe("persons on gateway, auctions on gateway, filter on gateway, join on gateway, sink on gateway");
  });

  it("mark the present placement and the rule that it breaks", () => {
    expect(rowsOf(advice())[1]).toMatchObject({
      isPresent: true,
      compared: "",
      used: "2 hosts",
      rule: 3,
    });
  });

  it("leave out what is not predicted", () => {
    const [row] = rowsOf(advice({ order: [0], candidates: [candidate(5, { mean: {}, costs: {} })] }));
    expect(row).toMatchObject({ predicted: ["–", ""], range: "", compared: "", others: [] });
  });
});

describe("notes of advice", () => {
  it("tell each feature outside the training range once", () => {
    expect(
      outsideTexts([
        { type: "host", feature: "latency", value: 500, least: 1, most: 160 },
        { type: "host", feature: "latency", value: "600", least: 1, most: 160 },
        { type: "windowed_agg", feature: "agg_function", value: "count", least: null, most: null },
        { type: "host", feature: "heat_of_day", value: 3, least: 1, most: 2 },
      ]),
    ).toEqual([
      "latency of host: 500, 600 ms; training had 1 to 160 ms",
      "function of windowed aggregate: count; not in training",
      "heat of day of host: 3; training had 1 to 2",
    ]);
  });

  it("say which filter was dropped", () => {
    expect(relaxedText("fails")).toBe("No other candidate is left, so those that are predicted to fail are ranked, too.");
  });
});

describe("applying advice", () => {
  it("places every operator on its one host and changes nothing else", () => {
    const before = smallDocument();
    const after = placeEach(before, allOn("gateway"));
    expect(after.placement).toEqual({ kind: "explicit", hosts: Object.fromEntries(OPERATORS.map((id) => [id, ["gateway"]])) });
    expect({ ...after, placement: before.placement }).toEqual(before);
    expect(isInPlace(allOn("gateway"), localPlacement(after))).toBe(true);
    expect(isInPlace(allOn("w1"), localPlacement(after))).toBe(false);
  });

  it("is drawn as the canvas draws placements, and is not in place before every operator stands there", () => {
    expect(isInPlace(allOn("w1"), drawnHosts(allOn("w1")))).toBe(true);
    expect(isInPlace(allOn("w1"), {})).toBe(false);
    expect(isInPlace(allOn("w1"), { ...drawnHosts(allOn("w1")), sink: ["w1", "w2"] })).toBe(false);
  });

  it("needs the operators and hosts that it was given for", () => {
    expect(fits(allOn("w1"), smallDocument())).toBe(true);
    expect(fits(allOn("w4"), smallDocument())).toBe(false);
    expect(fits(allOn("w1"), removeParts(smallDocument(), ["sink"], []))).toBe(false);
    expect(fits({ persons: "w1" }, smallDocument())).toBe(false);
  });
});

describe("advice and edits after it", () => {
  const asked = smallDocument();
  const { candidates } = advice();
  const stale = (now: typeof asked) => isStale(asked, now, localPlacement(now), candidates);

  it("is of now while the same is drawn, wherever it stands on the canvas", () => {
    expect(stale(asked)).toBe(false);
    expect(stale(structuredClone(asked))).toBe(false);
    expect(stale(moveOperators({ ...asked, name: "renamed" }, { sink: { x: 8, y: 8 } }))).toBe(false);
  });

  it("is of now when a candidate is applied, and of before after another placement", () => {
    const applied = placeEach(asked, allOn("gateway"));
    expect(stale(applied)).toBe(false);
    expect(stale(placeOn(applied, "sink", ["w3"], {}))).toBe(true);
  });

  it("is of before when the query, its load or the hosts have changed", () => {
    expect(stale(patchOperator(asked, "sink", { parallelism: 2 }))).toBe(true);
    expect(stale({ ...asked, cluster: { ...asked.cluster, hosts: asked.cluster.hosts.slice(1) } })).toBe(true);
    expect(stale({ ...asked, workload: { ...asked.workload, horizon_s: 60 } })).toBe(true);
  });

  it("is asked for again after any change that models would see, an applied candidate too", () => {
    expect(asksTheSame(asked, structuredClone(asked))).toBe(true);
    expect(asksTheSame(asked, moveOperators(asked, { sink: { x: 8, y: 8 } }))).toBe(true);
    expect(asksTheSame(asked, placeEach(asked, allOn("gateway")))).toBe(false);
  });
});

describe("questions", () => {
  const small: AdviceModels = { name: "small", corpus: "dev", traces: 800, members: 3, goals: ["processing_latency", "throughput"] };
  const large: AdviceModels = { ...small, name: "large", goals: ["end_to_end_latency"] };

  it("name models that there are, and a goal that they have", () => {
    expect(questionOf(NO_SETTINGS, [small, large], smallDocument())).toEqual({ ...NO_SETTINGS, models: "small" });
    expect(questionOf({ ...NO_SETTINGS, models: "large" }, [small, large], smallDocument())).toMatchObject({
      models: "large",
      goal: "end_to_end_latency",
    });
    expect(questionOf({ ...NO_SETTINGS, models: "gone", goal: "throughput" }, [small], smallDocument())).toMatchObject({
      models: "small",
      goal: "throughput",
    });
  });

  it("pin and forbid only what is drawn", () => {
    const settings = { ...NO_SETTINGS, pinned: { sink: "w1", join: "w9", gone: "w1" }, forbidden: ["w2", "w9"] };
    expect(questionOf(settings, [small], smallDocument())).toMatchObject({ pinned: { sink: "w1" }, forbidden: ["w2"] });
  });
});

describe("reasons", () => {
  it("tell one change and the cost that it would bring", () => {
    const told = reasonTexts(
      advice({
        reasons: [
          { kind: "other_host", operator: "join", host: "w2", cost: 40 },
          { kind: "other_feature", host: "gateway", feature: "latency_ms", before: 40, after: 30, cost: 8 },
          { kind: "other_feature", host: "gateway", feature: "cpu_percent", before: 100, after: 200, cost: 9 },
        ],
      }),
    );
    expect(told).toEqual([
      "If join stayed on w2: 40 ms in place of 12 ms",
      "If gateway had 10 ms less latency: 8 ms in place of 12 ms",
      "If gateway had twice the CPU: 9 ms in place of 12 ms",
    ]);
  });
});
