import { describe, expect, it } from "vitest";
import type { RegionLink } from "../../api/document";
import { coerceDocument } from "../document/coerce";
import { KINDS } from "../document/testing";
import { boxOf, hardwareOf } from "./hardware";

const hardware = (...region_links: RegionLink[]) => {
  const hosts = ["a", "b", "c", "d"].map((group) => ({ name: group, count: 2, group }));
  return hardwareOf(coerceDocument({ cluster: { hosts, region_links } }), KINDS);
};
const link = (source: string, target: string, more: RegionLink = {}): RegionLink => ({ source, target, latency_ms: 1, ...more });

describe("ways of links between regions", () => {
  it("run below the frames: those that only touch side by side, longer ones lower", () => {
    const { regionLinks: ways, groups } = hardware(link("d", "a"), link("a", "b"), link("b", "c"), link("a", "c"));
    const y = new Map(ways.map((way) => [way.index, way.y]));
    const bottom = Math.max(...groups.map((group) => group.y + group.height));
    expect(y.get(1)).toBe(y.get(2));
    expect(y.get(1)).toBeGreaterThan(bottom);
    expect(y.get(3)).toBeGreaterThan(y.get(1) ?? 0);
    expect(y.get(0)).toBeGreaterThan(y.get(3) ?? 0);
  });

  it("do not cross where one spans the other, or ends where it begins", () => {
    const { regionLinks: ways } = hardware(link("a", "b"), link("a", "c"), link("a", "d"), link("b", "c"), link("c", "d"));
    const lines = ways.map(({ path, y }) => {
      const [from = 0, to = 0] = [...path.matchAll(/(?:^M|Q)(\d+)/g)].map(([, x]) => Number(x)).filter((_, at) => at !== 1);
      return { from, to, y };
    });
    for (const one of lines) {
      for (const other of lines) {
        const ends = other === one ? [] : [other.from, other.to].filter((x) => x > one.from && x < one.to);
        if (other.y > one.y) expect(ends, `${JSON.stringify(other)} through ${JSON.stringify(one)}`).toEqual([]);
      }
    }
  });

  it("have arrows where they lead", () => {
    const heads = (one: RegionLink) => hardware(one).regionLinks[0]?.heads.match(/M/g)?.length;
    const at = (one: RegionLink) => Number(/M(\d+)/.exec(hardware(one).regionLinks[0]?.heads ?? "")?.[1]);
    expect(heads(link("a", "b"))).toBe(2);
    expect(heads(link("a", "b", { both_ways: false }))).toBe(1);
    expect(at(link("b", "a", { both_ways: false }))).toBeLessThan(at(link("a", "b", { both_ways: false })));
  });

  it("are part of what is fitted into view; links within a region, or to none, have no way", () => {
    expect(hardware(link("a", "a"), link("a", "nowhere"), {}).regionLinks).toEqual([]);
    expect(boxOf(hardware(link("a", "b"))).height).toBeGreaterThan(boxOf(hardware()).height);
  });
});
