import { describe, expect, it } from "vitest";
import type { ExperimentDocument, RegionLink } from "../../api/document";
import { changeHost, endsOf, limitsOf, regionLinksOf, regionsOf, removeRegionLink, unlinkedRegions } from "./regions";
import { smallDocument } from "./testing";

const withLinks = (...region_links: RegionLink[]): ExperimentDocument => {
  const small = smallDocument();
  return { ...small, cluster: { ...small.cluster, region_links } };
};
const rename = (document: ExperimentDocument, index: number, group: string) =>
  changeHost<{ group?: string }>(document, index, (host) => ({ ...host, group }));

describe("links between regions", () => {
  it("are told by their ends and by what they give", () => {
    expect(endsOf({ source: "eu", target: "us" })).toBe("eu ↔ us");
    expect(endsOf({ source: "eu", target: "us", both_ways: false })).toBe("eu → us");
    expect(endsOf({ source: "eu", target: "eu" })).toBe("within eu");
    expect(limitsOf({ latency_ms: 40, mbit_per_s: 1000 })).toBe("40 ms, 1 Gbit/s");
    expect(limitsOf({ mbit_per_s: 250 })).toBe("250 Mbit/s");
    expect(limitsOf({})).toBe("");
  });

  it("are offered for regions side by side first, once for both directions", () => {
    const regions = ["edge", "fog", "cloud"];
    const next = (...links: RegionLink[]) => unlinkedRegions(withLinks(...links), regions);
    expect(next()).toEqual(["edge", "fog"]);
    expect(next({ source: "fog", target: "edge" })).toEqual(["fog", "cloud"]);
    expect(next({ source: "fog", target: "edge" }, { source: "fog", target: "cloud" })).toEqual(["edge", "cloud"]);
    expect(next({ source: "fog", target: "edge" }, { source: "fog", target: "cloud" }, { source: "edge", target: "cloud" })).toBeNull();
  });

  it("follow the new name of a region, but not hosts that leave one", () => {
    const linked = withLinks({ source: "edge", target: "cloud", latency_ms: 12 }, { source: "edge", target: "edge", latency_ms: 1 });
    const renamed = rename(linked, 1, "harbour");
    expect(regionsOf(renamed)).toEqual(["cloud", "harbour"]);
    expect(regionLinksOf(renamed).map(endsOf)).toEqual(["harbour ↔ cloud", "within harbour"]);
    expect(regionLinksOf(rename(linked, 1, "cloud"))).toEqual(regionLinksOf(linked));
    const small = linked.cluster.hosts[0];
    const more = { ...linked, cluster: { ...linked.cluster, hosts: [...linked.cluster.hosts, { ...small, name: "x", group: "edge" }] } };
    expect(regionLinksOf(rename(more, 1, "harbour"))).toEqual(regionLinksOf(linked));
  });

  it("leave no empty list behind", () => {
    expect(removeRegionLink(withLinks({ source: "edge", target: "cloud", latency_ms: 12 }), 0)).toEqual(smallDocument());
    expect(changeHost(smallDocument(), 0, (host) => host)).toEqual(smallDocument());
  });
});
