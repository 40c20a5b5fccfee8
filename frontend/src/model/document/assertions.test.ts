import { describe, expect, it } from "vitest";
import type { Kind } from "../../api/types";
import { assertionsOf, checkCompletionsAt, measuredText, measurementsOf, outcomeText, shareText, verdictsText, withAssertion, worstOf } from "./assertions";
import { coerceDocument } from "./coerce";

const kind = (name: string, unit = "", type: Kind["type"] = "number"): Kind => ({
  kind: name,
  title: name,
  family: "measurements",
  group: "",
  icon: "",
  doc: `About ${name}.`,
  source: "",
  schema: {},
  inputs: [],
  outputs: [],
  unit,
  type,
});
const DOCUMENT = coerceDocument({
  query: { operators: [{ id: "bids", kind: "source" }, { id: "my-sink", kind: "sink" }], edges: [] },
  cluster: { hosts: [{ name: "w", count: 2 }] },
  measurement: { also: [{ name: "wait" }] },
});
const KINDS = [kind("lost", "records"), kind("latency_ms.p99", "ms"), kind("operators.<operator>.in"), kind("memory.<host>.used_bytes", "bytes"),
  kind("latencies_ms.<latency>.p99", "ms"), kind("scaling.phases.<phase>.actions"), kind("frames.latency_ms.p99", "ms", "series")];
const NAMES = measurementsOf(KINDS, DOCUMENT);

describe("names of measurements", () => {
  it("are filled in from the document", () => {
    expect(NAMES.map(({ name }) => name)).toEqual([
      "lost", "latency_ms.p99", "operators.bids.in", "operators.my-sink.in", "memory.w1.used_bytes", "memory.w2.used_bytes",
      "latencies_ms.wait.p99", "scaling.phases.1.actions", "frames.latency_ms.p99",
    ]);
  });
  const offered = (text: string, wanted = false) => checkCompletionsAt(text, text.length, NAMES, [kind("all")], wanted).items.map((one) => one.text);
  it("are offered by their beginning, then by their parts", () => {
    expect(offered("lo")).toEqual(["lost"]);
    expect(offered("lost == 0 and p99")).toEqual(["latency_ms.p99", "latencies_ms.wait.p99", "frames.latency_ms.p99"]);
    expect(offered("my-s")).toEqual(["operators.my-sink.in"]);
    expect(offered("al")).toContain("all()");
    expect(offered("lost")).toEqual([]);
    expect(offered("")).toEqual([]);
    expect(offered("", true)).toHaveLength(8);
  });
  it("replace the word at the caret", () => {
    const text = "lost == 0 and lat < 5";
    expect(checkCompletionsAt(text, 17, NAMES, [])).toMatchObject({ from: 14, to: 17 });
  });
});

describe("assertions in a document", () => {
  it("may be anything in a draft", () => {
    expect(assertionsOf({ ...DOCUMENT, assertions: [3, null, { name: "x" }] as never })).toEqual([{}, {}, { name: "x" }]);
    expect(assertionsOf({ ...DOCUMENT, assertions: 3 as never })).toEqual([]);
  });
  it("get names of their own", () => {
    const fast = { name: "fast", check: "lost == 0" };
    const two = withAssertion(withAssertion([], fast), fast);
    expect(withAssertion(two, fast).map(({ name }) => name)).toEqual(["fast", "fast (2)", "fast (3)"]);
  });
});

describe("verdicts in words", () => {
  const side = { text: "latency_ms.p99", least: 42, most: 42 as number | null, unit: "ms" };
  it("have a value, a range or a lower bound", () => {
    expect(measuredText(side)).toBe("42 ms");
    expect(measuredText({ ...side, most: 50 })).toBe("42 to 50 ms");
    expect(measuredText({ ...side, most: null, unit: "s" })).toBe("42 s or more");
    expect(measuredText({ ...side, unit: "share" })).toBe("42");
  });
  it("are counted", () => {
    const of = (...states: ("holds" | "fails" | "cannot be judged")[]) => verdictsText(states.map((state) => ({ state })));
    expect(of("holds", "fails", "holds")).toBe("2 hold, 1 fails");
    expect(of("cannot be judged")).toBe("1 cannot be judged");
    const outcome = (...states: ("holds" | "fails" | "cannot be judged")[]) => outcomeText(states.map((state) => ({ state })));
    expect(outcome("holds", "fails", "cannot be judged")).toBe("1 of 3 fails");
    expect(outcome("holds", "cannot be judged")).toBe("1 of 2 not judged");
    expect(outcome("holds", "holds")).toBe("2 hold");
    const count = { name: "fast", holds: 3, fails: 1, not_judged: 1 };
    expect(shareText(count)).toBe("3 of 5 hold, 1 fails, 1 not judged");
    expect(worstOf([count])).toBe("fails");
    expect(worstOf([{ ...count, fails: 0 }])).toBe("cannot be judged");
    expect(worstOf([{ ...count, fails: 0, not_judged: 0 }])).toBe("holds");
    expect(worstOf([])).toBeNull();
  });
});
