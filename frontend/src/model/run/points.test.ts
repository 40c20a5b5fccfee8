import { expect, it } from "vitest";
import { axisOf, brushed, colouringOf, coordinateAt, leftOutText, logRefusal, placeOf, ticksOf, unplacedText } from "./points";

const field = (name: string, unit = "", texts = false) => ({ name, unit, texts });

it("draws numbers along a scale and texts as categories, those not set last", () => {
  const numbers = axisOf(field("p99", "ms"), [10, 1000, null], true);
  expect([numbers.scale, numbers.title, numbers.extent]).toEqual(["log", "p99, ms", [10, 1000]]);
  expect([placeOf(numbers, 100), placeOf(numbers, null)]).toEqual([0.5, null]);
  expect(coordinateAt(numbers, 0.5)).toBeCloseTo(100);
  const mixed = axisOf(field("/a/size", "", true), ["b", 2, null, "a", 10], false);
  expect([mixed.scale, mixed.categories]).toEqual(["category", [2, 10, "a", "b", null]]);
  expect(placeOf(mixed, null)).toBe(0.9);
  expect(coordinateAt(mixed, 0.9)).toBe(4);
});

it("is linear where there is no logarithm", () => {
  const axis = axisOf(field("late"), [0, 5], true);
  expect(axis.scale).toBe("linear");
  expect(logRefusal(axis)).toContain("above 0");
  expect(logRefusal(axisOf(field("state"), ["failed"], false))).toContain("Texts");
  expect(logRefusal(axisOf(field("p99"), [1, 2], false))).toBeNull();
});

it("places one value in the middle", () => expect(placeOf(axisOf(field("p99"), [3, 3], false), 3)).toBe(0.5));

it("marks round numbers within the axis", () => {
  expect(ticksOf(axisOf(field("p99"), [0, 100], false)).map(({ text }) => text)).toEqual(["0", "20", "40", "60", "80", "100"]);
  expect(ticksOf(axisOf(field("p99"), [1, 1000], true)).map(({ text }) => text)).toEqual(["1", "2", "5", "10", "20", "50", "100", "200", "500", "1,000"]);
  expect(ticksOf(axisOf(field("p99"), [1, 1e6], true)).map(({ text }) => text)).toEqual(["1", "10", "100", "1,000", "10k", "100k", "1M"]);
  expect(ticksOf(axisOf(field("p99"), [0.71, 0.89], true)).map(({ text }) => text)).toEqual(["0.75", "0.8", "0.85"]);
  expect(ticksOf(axisOf(field("state"), ["failed", null], false)).map(({ text }) => text)).toEqual(["failed", "not set"]);
});

it("turns a stretch of an axis into a condition", () => {
  const p99 = axisOf(field("p99", "ms"), [1.25, 2, 3], false);
  expect(brushed(p99, 1.5, 3.5, "")).toBe("p99:1.5ms..3.5ms");
  expect(brushed(axisOf(field("seed"), [1, 2, 3], false), 1.5, 3.5, "")).toBe("seed:2..3");
  expect(brushed(p99, 3.5, 1.5, "")).toBe("p99:1.5ms..3.5ms");
  expect(brushed(p99, 3.5, 9, "")).toBeNull();
  const state = axisOf(field("state"), ["failed", "queued", "succeeded"], false);
  expect(brushed(state, -0.4, 1.2, "")).toBe("state=failed|queued");
  expect(brushed(state, 0.2, 0.8, "")).toBeNull();
  expect(brushed(axisOf(field("author"), ["ada", null], false), 0.6, 1.4, "")).toBe("no:author");
  expect(brushed(axisOf(field("/a/size"), [null, "x", 5], false), -1, 3, "")).toBe('/a/size=5|"x"');
});

it("never widens a search that chooses a range already", () => {
  const p99 = axisOf(field("p99", "ms"), [1.5, 2, 3], false);
  expect(brushed(p99, 0, 2.5, "p99:1ms..3ms")).toBe("p99:1.5ms..2.5ms");
});

it("tells a few classes apart by colour, puts the rest together, and spreads many numbers along a scale", () => {
  const few = colouringOf(axisOf(field("state"), ["failed", "queued", "failed"], false), 3);
  expect([few.classes, few.classOf]).toEqual([[{ label: "failed", count: 2 }, { label: "queued", count: 1 }], [0, 1, 0]]);
  const many = colouringOf(axisOf(field("author"), ["a", "b", "c", "d", "e", "f", "g", "g"], false), 8);
  expect(many.classes.at(-1)).toEqual({ label: "2 others", count: 2 });
  expect(many.classOf[6]).toBe(0);
  const numbers = colouringOf(axisOf(field("p99"), [1, 2, 3, 4, 5, 6, 7], false), 7);
  expect([numbers.classes, numbers.along?.field.name]).toEqual([[], "p99"]);
  expect(colouringOf(null, 2).classes).toEqual([{ label: "", count: 2 }]);
});

it("says how many runs are left out, and how many have no place", () => {
  expect(leftOutText(5, 5)).toBe("");
  expect(leftOutText(5000, 12345)).toBe("The newest 5,000 of 12,345 runs are drawn; 7,345 older ones are left out. Narrow the search to see them.");
  expect(unplacedText([axisOf(field("p99"), [1, null], false), axisOf(field("author"), [null], false)])).toBe("1 of them has no p99.");
});
