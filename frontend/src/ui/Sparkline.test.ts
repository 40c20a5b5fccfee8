import { expect, it } from "vitest";
import { pathOf } from "./Sparkline";

it("draws a line over the whole width, with gaps, and dots for values alone", () => {
  expect(pathOf([1, 10, 100])).toBe("M2.0 16.0L36.0 9.0L70.0 2.0");
  expect(pathOf([1, null, 100])).toBe("M2.0 16.0h.1M70.0 2.0h.1");
  expect(pathOf([null, null])).toBe("");
});

it("leaves what hardly changes flat", () => {
  const heights = [...pathOf([1, 1.01, 1]).matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y));
  expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(0.5);
});
