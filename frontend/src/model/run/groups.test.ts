import { expect, it } from "vitest";
import { scaleOf } from "./groups";

const measured = (min: number | null, max: number | null) => ({ count: 1, median: min, min, max, over_seeds: null });

it("puts all groups on one scale, logarithmic where they lie far apart", () => {
  const near = scaleOf([measured(10, 20), measured(null, null), measured(15, 30)]);
  expect([near?.isLog, near?.place(20)]).toEqual([false, 0.5]);
  const far = scaleOf([measured(1, 10), measured(100, 10_000)]);
  expect([far?.isLog, far?.place(100)]).toEqual([true, 0.5]);
  expect(scaleOf([measured(0, 1000)])?.isLog).toBe(false);
  expect(scaleOf([measured(3, 3)])?.place(3)).toBe(0.5);
  expect(scaleOf([measured(null, null)])).toBeNull();
});
