import { describe, expect, it } from "vitest";
import type { Frame, OutputLogNews } from "../../api/types";
import { FrameLog } from "./frames";
import { hasOutputLogs, oldestAge_s, outputLogsAt } from "./outputLogs";

const log = (changes: Partial<OutputLogNews["logs"][string]> = {}) => ({
  end: 40,
  kept: 12,
  extent: 10,
  open_windows: 5,
  replay: 70,
  checkpoints: 20,
  oldest_s: 3,
  ...changes,
});

const frame = (n: number, logs: OutputLogNews["logs"], replay: number | null = 100): Frame =>
  ({
    n,
    t_s: 4 + n,
    output_logs: {
      written: 4,
      about: 3,
      checkpoints: 2,
      bytes: 300,
      open_windows: 5,
      extent: 10,
      replay: 70,
      infeasible: 0,
      limits: { records: null, replay },
      logs,
      outages: [],
    },
  }) as unknown as Frame;

describe("output logs", () => {
  it("belong to two kinds of state", () => {
    const has = (state?: object) => hasOutputLogs({ policies: state ? { state } : {} } as never);
    expect([{ kind: "continuous_eventual" }, { kind: "upstream_backup" }, { kind: "changelog" }, { kind: "memory" }, undefined].map(has)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it("are shown with their limits", () => {
    const frames = new FrameLog();
    frames.add([frame(0, { "a[0]": log(), "a[1]": log({ kept: 30, oldest_s: null }) }), frame(1, { "a[0]": log() }, null)]);
    const now = outputLogsAt(frames, 0);
    expect(now?.limits).toEqual({ records: null, replay: 100 });
    expect(now?.most).toBe(30);
    expect(now?.logs.map(([name, one]) => [name, oldestAge_s(one, now.t_s)])).toEqual([
      ["a[0]", 1],
      ["a[1]", null],
    ]);
    expect(outputLogsAt(frames, 1)?.limits.replay).toBeNull();
    expect(outputLogsAt(frames, 7)).toBeNull();
  });
});
