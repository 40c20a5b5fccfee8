import { describe, expect, it } from "vitest";
import { coerceDocument } from "../document/coerce";
import { smallDocument } from "../document/testing";
import { hostAt, HOSTS_SHOWN_MAX, layoutHosts, SLOT, slotsOn, specOn, TILE } from "./hostTiles";

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

  it("shows no more squares than fit between a tile's borders, and how many more there are", () => {
    for (const width of [TILE.widthMin, 100, TILE.widthMax]) {
      const { perRow, shown } = slotsOn(width, 100);
      expect(perRow * (SLOT.size + SLOT.gap) - SLOT.gap).toBeLessThanOrEqual(width - 2 * SLOT.border);
      expect(shown).toBeLessThan(perRow * SLOT.rows);
      expect(slotsOn(width, 10).shown).toBe(10);
    }
  });

  it("says on a tile what the host has, with its memory where there is room", () => {
    const host = { name: "slow", cores: 2, speed: 0.5, memory_mb: 4096 };
    expect(specOn(TILE.widthMax, host)).toBe("2 cores 0.5x 4.1 GB");
    expect(specOn(TILE.widthMin, host)).toBe("2 cores 0.5x");
    expect(specOn(TILE.widthMax, { name: "plain" })).toBe("1 core 1x");
  });
});
