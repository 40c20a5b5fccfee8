import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { askAhead, takeAhead } from "./ahead";

const answer = (status: number) => new Response("{}", { status });

describe("answers asked for ahead", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("are taken once, and soon", async () => {
    const fetched = vi.fn(async () => answer(200));
    vi.stubGlobal("fetch", fetched);
    askAhead("/api/registry");
    expect(takeAhead("/api/experiments/1")).toBeNull();
    expect((await takeAhead("/api/registry"))?.status).toBe(200);
    expect(takeAhead("/api/registry")).toBeNull();
    askAhead("/api/registry");
    vi.advanceTimersByTime(6000);
    expect(takeAhead("/api/registry")).toBeNull();
    expect(fetched).toHaveBeenCalledTimes(2);
  });

  it("are nothing when they went wrong", async () => {
    vi.stubGlobal("fetch", async () => answer(401));
    askAhead("/api/registry");
    expect(await takeAhead("/api/registry")).toBeNull();
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));
    askAhead("/api/registry");
    expect(await takeAhead("/api/registry")).toBeNull();
  });
});
