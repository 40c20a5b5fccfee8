import { describe, expect, it } from "vitest";
import type { Json } from "../../api/types";
import { describeHost, describeLinks, expandHosts, freeHostName, instancesByHost, summariseHosts } from "./hosts";
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

  it("are told with how many there are, and how fast", () => {
    const host = { name: "v", count: 2, cores: 1, speed: 0.5, memory_mb: 4000, egress_mbit_per_s: 1000, egress_latency_ms: 0.5 };
    expect(describeHost(host)).toBe("v1–v2: 2 × 1 core, 0.5x, 4 GB, egress 1 Gbit/s, 0.5 ms");
    expect(describeHost({ name: "slow", speed: 0.25 })).toBe("slow: 1 core, 0.25x");
  });

  it("get names that cannot be taken for those of others", () => {
    const named = (...names: string[]) => names.map((name) => ({ name, count: 4 }));
    expect(freeHostName("w", named("x"))).toBe("w");
    expect(freeHostName("w", named("w"))).toBe("w-b");
    expect(freeHostName("w", named("w", "w-b", "w-d"))).toBe("w-c");
    const all = Array.from({ length: 25 }, (_, at) => `w-${String.fromCharCode(98 + at)}`);
    expect(freeHostName("w", named("w", ...all))).toBe("w-aa");
  });

  it("joins runs of numbered names", () => {
    expect(summariseHosts(["w1", "w2", "w3", "w1"])).toBe("w1–w3");
    expect(summariseHosts(["w1", "w2", "edge", "w4"])).toBe("w1, w2, edge, w4");
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
    expect(describeLinks(document, "cloud")).toEqual(["to gateway 12 ms", "w2 to w1 3 ms, 10 Mbit/s"]);
    expect(describeLinks(document, "edge")).toEqual(["to w1 100 Mbit/s"]);
    expect(describeLinks(small, "edge")).toEqual([]);
  });
});
