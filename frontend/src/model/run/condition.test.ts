import { expect, it } from "vitest";
import { conditionRefusal, withCondition } from "./condition";

it("adds a condition to a search once", () => {
  expect(withCondition("", "p99", ">", "10")).toBe("p99>10");
  expect(withCondition(" q3  seed=1", "p99", "<=", " 10 ")).toBe("q3 seed=1 p99<=10");
  expect(withCondition("", "p99", ">", "500 ms")).toBe("p99>500ms");
  expect(withCondition("p99>10 q3", "p99", ">", "10")).toBe("p99>10 q3");
});

it("says what is missing", () => {
  expect(conditionRefusal("", "1")).toContain("Choose");
  expect(conditionRefusal("p99 >", "1")).toContain("no spaces");
  expect(conditionRefusal("p99", "")).toContain("value");
  expect(conditionRefusal("p99", "1 2")).toContain("no spaces");
  expect(conditionRefusal("/a/b", "x")).toBeNull();
  expect(conditionRefusal("p99", "10 s")).toBeNull();
});
