import { expect, test } from "vitest";
import { marksOf } from "./marks";

const most = (busy: number) => ({ busy, busiest: 1, blocked: 0, most_blocked: 0, queue: 0, fullest: 0 });

test("an operator is marked by its busiest instance, and as skewed where that one is far from the mean", () => {
  expect(marksOf(undefined)).toEqual({ tone: "", skewed: false });
  expect(marksOf({ busy: 0.5, blocked: 0 })).toEqual({ tone: "", skewed: false });
  expect(marksOf({ busy: 0.5, blocked: 0, most: most(0.65) })).toEqual({ tone: "", skewed: false });
  expect(marksOf({ busy: 0.3, blocked: 0, most: most(0.95) })).toEqual({ tone: "hot", skewed: true });
  expect(marksOf({ busy: 0.3, blocked: 0.6, most: most(0.9) })).toEqual({ tone: "blocked", skewed: true });
});
