import { describe, expect, it } from "vitest";
import type { Outage } from "../../api/types";
import { addOutages, outagesAt } from "./outages";

const outage = (changes: Partial<Outage> = {}): Outage => ({
  host: "node02",
  lost_s: 4,
  disk_lost: false,
  started_s: null,
  ready_s: null,
  lost_changes: 3,
  results_again: 0,
  again: null,
  restores: [],
  ...changes,
});
const restore = { store: "revenue[0]", way: "local" as const, reason: "", records: 1000, bytes: 64_000, took_ms: 2000 };
const up = outage({ started_s: 5, ready_s: 7, restores: [restore] });
const over = outage({ ...up, again: 250 });

describe("losses of hosts with local stores", () => {
  it("are told anew as a recovery goes on", () => {
    const outages: Outage[] = [];
    addOutages(outages, [outage()]);
    addOutages(outages, [up, outage({ host: "node03" })]);
    addOutages(outages, [over]);
    expect(outages).toEqual([over, outage({ host: "node03" })]);
  });

  it("stand as they do at a moment", () => {
    const at = (t_s: number) => outagesAt([over], t_s)[0];
    expect(at(3.9)).toBeUndefined();
    expect(at(4.5)).toMatchObject({ does: "is down", again: null, restores: [] });
    expect(at(5.5)).toMatchObject({ does: "is up since 5.00 s and fills its stores", again: null, restores: [{ done: 0.25 }] });
    expect(at(7)).toMatchObject({ does: "went on after 3.00 s", again: 250, restores: [{ done: 1, from: "its disk and the end of the changelog" }] });
  });

  it("are not over if the host is lost again meanwhile", () => {
    const [later, first] = outagesAt([up, outage({ lost_s: 6 })], 8);
    expect([later?.does, first?.does]).toEqual(["is down", "was lost again before it went on"]);
  });

  it("come with the newest first, and say why a store was not used", () => {
    const remote = { ...restore, way: "changelog" as const, reason: "no commit has brought it to disk" };
    const found = outagesAt([over, outage({ lost_s: 9, started_s: 10, ready_s: 12, restores: [remote] })], 20);
    expect(found.map(({ lost_s }) => lost_s)).toEqual([9, 4]);
    expect(found[0]?.restores[0]?.from).toBe("the whole changelog: no commit has brought it to disk");
    expect(outagesAt([outage({ started_s: 10, disk_lost: true, restores: [remote] })], 20)[0]?.restores[0]?.from).toBe(
      "the whole changelog: its disk is lost",
    );
    const logged = { ...restore, way: "output_log" as const, reason: "" };
    const [one] = outagesAt([outage({ started_s: 10, ready_s: 12, restores: [logged] })], 11);
    expect([one?.does, one?.restores[0]?.from]).toEqual(["is up since 10.00 s and reads its output logs", "its output log"]);
  });
});
