import { describe, expect, it } from "vitest";
import { localPlacement } from "../document/placement";
import { KINDS, smallDocument } from "../document/testing";
import { svgOf } from "./picture";

describe("the picture of the canvas", () => {
  const picture = (name: string) => {
    const document = { ...smallDocument(), name };
    const drawn = { document, kinds: KINDS, placement: localPlacement(document), schemas: {}, streamTitles: new Map<string, string>() };
    return svgOf(drawn, (token) => `#${token.length}00`);
  };

  it("shows operators, edges with their partitioning, and hosts with what stands on them", () => {
    const { svg, width, height } = picture("small");
    for (const word of ["persons", "×2", "hash(id)", "gateway", "w1", "Cloud"]) expect(svg).toContain(`>${word}<`);
    expect(svg.match(/<path d="[^"]+" fill="none"/g)).toHaveLength(3);
    expect(width).toBeGreaterThan(700);
    expect(height).toBeGreaterThan(200);
  });

  it("shows links between regions with what they give", () => {
    const small = smallDocument();
    const region_links = [
      { source: "edge", target: "cloud", latency_ms: 40, mbit_per_s: 1000 },
      { source: "cloud", target: "cloud", latency_ms: 0.2 },
    ];
    const document = { ...small, cluster: { ...small.cluster, region_links } };
    const drawn = { document, kinds: KINDS, placement: localPlacement(document), schemas: {}, streamTitles: new Map<string, string>() };
    const { svg } = svgOf(drawn, (token) => `#${token.length}00`);
    expect(svg).toContain(">40 ms, 1 Gbit/s<");
    expect(svg).toContain(">0.2 ms within, 3<");
  });

  it("is a picture whatever the name is", () => {
    const { svg } = picture('</title><script>alert(1)</script> "\u0001 ‮ 🌊');
    expect(svg).not.toContain("<script");
    expect(svg).not.toContain("\u0001");
    expect(svg).toContain("🌊");
  });
});
