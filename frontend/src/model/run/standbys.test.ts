import { describe, expect, it } from "vitest";
import type { Frame, StandbyNews } from "../../api/types";
import { FrameLog } from "./frames";
import { distance, hasStandbys, standbysAt } from "./standbys";

const frame = (n: number, news: Partial<StandbyNews>): Frame =>
  ({
    n,
    t_s: 4 + n,
    standbys: {
      held: 3,
      behind: 2,
      ready: 1,
      pairs: { "a[0]": { active: 0, lost: -1, held: 3, behind: 2 } },
      instances: [{ names: ["a[0]", "b[0]"], hosts: ["work", "spare"] }],
      takeovers: [],
      ...news,
    },
  }) as unknown as Frame;

describe("standbys", () => {
  it("belong to one kind of state", () => {
    const has = (state?: object) => hasStandbys({ policies: state ? { state } : {} } as never);
    expect([{ kind: "active_standby" }, { kind: "upstream_backup" }, undefined].map(has)).toEqual([true, false, false]);
  });

  it("are shown with whose results are sent", () => {
    const log = new FrameLog();
    const taken = { host: "work", lost_s: 4.5, at_s: 5.5 };
    log.add([
      frame(0, {}),
      frame(1, { ready: 0, pairs: { "a[0]": { active: 0, lost: 0, held: 0, behind: 0 } }, takeovers: [taken] }),
      frame(2, { ready: 0, pairs: { "a[0]": { active: 1, lost: 0, held: 0, behind: 0 } }, takeovers: [{ ...taken, again: 1 }] }),
      frame(3, { ready: 0, pairs: {} }),
    ]);
    expect(standbysAt(log, 0)?.pairs).toMatchObject([{ operator: "a[0]", sends: "a[0]", on: "work", standby: "spare", held: 3 }]);
    expect(standbysAt(log, 0)?.takeovers).toEqual([]);
    expect(standbysAt(log, 1)?.takeovers).toEqual([{ host: "work", lost_s: 4.5, says: "is lost; standbys take over at 5.50 s", tone: "warn" }]);
    expect(standbysAt(log, 2)?.pairs).toMatchObject([{ operator: "a[0]", sends: "b[0]", on: "spare", standby: null }]);
    expect(standbysAt(log, 2)?.takeovers[0]?.says).toBe("is lost; standbys took over after 1.00 s and sent 1 result held back");
    expect(standbysAt(log, 9)).toBeNull();
  });

  it("say how far they are", () => {
    expect([0, 1200, -3].map(distance)).toEqual(["level", "1,200 behind", "3 ahead"]);
  });
});
