import { describe, expect, it } from "vitest";
import type { Json } from "../../api/types";
import { coerceDocument } from "./document";
import { describeLinks, expandHosts, hostAt, HOSTS_SHOWN_MAX, instancesByHost, layoutHosts, summariseHosts } from "./hosts";
import { depths, positionsOf } from "../graph/layout";
import { localPlacement } from "./placement";
import { smallDocument } from "./testing";

describe("hosts", () => {
  it("expands templates by their count", () => {
    expect(expandHosts(smallDocument()).map((host) => host.name)).toEqual(["w1", "w2", "w3", "gateway"]);
  });

  it("spreads instance k on host k mod n", () => {
    const placement = localPlacement(smallDocument());
    expect(placement.join).toEqual(["w1", "w2"]);
    expect(instancesByHost(smallDocument(), placement).get("w1")).toEqual(["persons", "auctions", "filter", "join", "sink"]);
  });

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

  it("joins runs of numbered names", () => {
    expect(summariseHosts(["w1", "w2", "w3", "w1"])).toBe("w1–w3");
    expect(summariseHosts(["w1", "w2", "edge", "w4"])).toBe("w1, w2, edge, w4");
  });
});

describe("layout without positions", () => {
  it("puts operators in columns by their distance from a source, without overlap", () => {
    const document = { ...smallDocument(), ui: {} };
    expect(depths(document).get("sink")).toBe(3);
    const positions = positionsOf(document);
    expect(positions.sink?.x).toBeGreaterThan(positions.join?.x ?? 0);
    expect(positions.auctions?.y).not.toBe(positions.persons?.y);
  });

  it("keeps the positions that are given", () => {
    expect(positionsOf(smallDocument()).persons).toEqual({ x: 0, y: 0 });
  });
});

describe("links", () => {
  it("names those that leave a group, once for all senders that have the same", () => {
    const small = smallDocument();
    const links: Json[] = [
      ...["w1", "w2", "w3"].map((source) => ({ source, target: "gateway", latency_ms: 12 })),
      { source: "gateway", target: "w1", mbit_per_s: 100 },
      { source: "w2", target: "w1", latency_ms: 3, mbit_per_s: 10 },
      { source: 4 },
      null,
    ];
    const document = { ...small, cluster: { ...small.cluster, links } };
    expect(describeLinks(document, "cloud")).toEqual(["to gateway 12 ms", "w2 to w1 3 ms 10 Mbit/s"]);
    expect(describeLinks(document, "edge")).toEqual(["to w1 100 Mbit/s"]);
    expect(describeLinks(small, "edge")).toEqual([]);
  });
});
