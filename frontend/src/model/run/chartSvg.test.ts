import { describe, expect, it } from "vitest";
import { chartSvg, type ChartDrawn } from "./chartSvg";

const CHART: ChartDrawn = {
  title: 'Latency of <run> "12"',
  note: "log scale",
  t_s: [0, 1, 2, 3, 4],
  columns: [
    [1, null, 100, 50, 0],
    [2, 2, 2, 2, 2],
  ],
  lines: [
    { label: "p50", token: "--s1", width: 2 },
    { label: "p99", token: "--s2", width: 1, dash: [4, 2] },
  ],
  span: { from_s: 0, to_s: 4 },
  log: true,
  areas: false,
  format: String,
};
const drawn = (more: Partial<ChartDrawn> = {}) => chartSvg({ ...CHART, ...more }, (token) => `rgb${token}`).svg;
const paths = (svg: string) => [...svg.matchAll(/<path d="(M[^"]*)" fill="none"/g)].map(([, path = ""]) => path);

describe("a picture of a chart", () => {
  it("has its title, a line for each series broken where there is nothing, and their colours and dashes", () => {
    const svg = drawn();
    expect(svg).toContain("Latency of &#60;run&#62; &#34;12&#34;");
    expect(paths(svg)).toHaveLength(2);
    expect(paths(svg)[0]?.match(/M/g)).toHaveLength(2);
    expect(svg).toContain('stroke-dasharray="4 2"');
    expect(svg).not.toContain("NaN");
  });

  it("holds values over times that only others have, up to the last one, and begins where the first one is", () => {
    const columns = [[10, undefined, 20, null, undefined], [undefined, 1, undefined, 2, undefined]] as ChartDrawn["columns"];
    const [own = "", other = ""] = paths(drawn({ stepped: true, log: false, columns }));
    const moves = (path: string) => [...path.matchAll(/([ML])([\d.]+) ([\d.]+)/g)].map(([, pen = "", x = "", y = ""]) => ({ pen, x: Number(x), y: Number(y) }));
    const [first, second] = [moves(own), moves(other)];
    expect(first.filter(({ pen }) => pen === "M")).toHaveLength(1);
    // Flat up to the second value's time, then up, then flat up to the gap.
    expect(first.map(({ x }) => x)).toEqual([64, 233, 233, 402, 402, 571]);
    const heights = first.map(({ y }) => y);
    expect(new Set(heights.slice(0, 4)).size).toBe(1);
    expect(heights[4]).toBeLessThan(heights[0] ?? 0);
    expect(heights[5]).toBe(heights[4]);
    expect(second.filter(({ pen }) => pen === "M")).toHaveLength(1);
    expect(second.map(({ x }) => x)).toEqual([233, 402, 402, 571, 571]);
  });

  it("stacks areas, and shows a stretch alone", () => {
    const svg = drawn({ areas: true, log: false, top: 200, span: { from_s: 2, to_s: 3 } });
    expect(svg.match(/<polygon/g)).toHaveLength(2);
    expect(svg).not.toContain("NaN");
    expect(drawn({ t_s: [], columns: [[], []] })).not.toContain("NaN");
  });
});
