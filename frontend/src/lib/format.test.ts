import { describe, expect, it } from "vitest";
import { ago, latency } from "./format";

describe("how long ago something was", () => {
  const now = new Date(2026, 10, 24, 16, 0, 0);
  const before = (minutes: number) => ago(new Date(now.getTime() - minutes * 60_000).toISOString(), now);

  it("is said in minutes as long as that helps, and never in the future", () => {
    expect([before(-3), before(0.9), before(2), before(59)]).toEqual(["just now", "just now", "2 min ago", "59 min ago"]);
    expect([before(90), before(24 * 60)]).toEqual(["14:30", "23 Nov, 16:00"]);
  });
});

it("gives a latency in the unit that a reader expects of its size", () => {
  const said = (ms: number) => latency(ms).join(" ");
  expect([said(0), said(0.0716), said(12.43), said(999), said(13_500)]).toEqual(["0 ms", "71.6 µs", "12.4 ms", "999 ms", "13.5 s"]);
});
