import { describe, expect, it } from "vitest";
import { coerceDocument } from "../document/coerce";
import { smallDocument } from "../document/testing";
import { hostAt, HOSTS_SHOWN_MAX, layoutHosts } from "./hostTiles";

describe("hosts below the waterline", () => {
  it("lays groups side by side, edge first, and finds the host under a point", () => {
    const groups = layoutHosts(smallDocument(), { x: 0, y: 100 }, 700);
    expect(groups.map((group) => group.id)).toEqual(["edge", "cloud"]);
    const cloud = groups[1];
    const tile = cloud?.tiles[1];
    expect(hostAt(groups, { x: (cloud?.x ?? 0) + (tile?.x ?? 0) + 5, y: (cloud?.y ?? 0) + (tile?.y ?? 0) + 5 })?.name).toBe("w2");
    expect(hostAt(groups, { x: -5, y: -5 })).toBeNull();
    for (let at = 1; at < groups.length; at += 1)
      expect(groups[at]?.x).toBeGreaterThanOrEqual((groups[at - 1]?.x ?? 0) + (groups[at - 1]?.width ?? 0));
  });

  it("folds a large template", () => {
    const groups = layoutHosts(coerceDocument({ cluster: { hosts: [{ name: "w", count: 100 }] } }), { x: 0, y: 0 }, 700);
    expect(groups[0]?.tiles).toHaveLength(HOSTS_SHOWN_MAX);
    expect(groups[0]?.tiles.at(-1)?.more).toBe(100 - HOSTS_SHOWN_MAX);
  });
});
