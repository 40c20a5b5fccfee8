import Elk from "elkjs/lib/elk.bundled.js";
import { describe, expect, it } from "vitest";
import type { ExperimentDocument } from "../../api/document";
import { coerceDocument } from "../document/coerce";
import { smallDocument } from "../document/testing";
import { layoutGraph, positionsFrom } from "./autoLayout";
import { NODE } from "./layout";

async function laidOut(document: ExperimentDocument, labelled: boolean) {
  return positionsFrom(await new Elk().layout(layoutGraph(document, new Map(), labelled)), labelled);
}

const chain = (length: number) =>
  coerceDocument({
    query: {
      operators: Array.from({ length }, (_, at) => ({ id: `o${at}`, kind: at ? "filter" : "source", parallelism: 1 })),
      edges: Array.from({ length: length - 1 }, (_, at) => ({ source: `o${at}`, target: `o${at + 1}`, partitioning: { kind: "forward" } })),
    },
  });

describe("the layout of a query", () => {
  it("goes from left to right with room for the labels, from 0", async () => {
    const document = smallDocument();
    const positions = await laidOut(document, true);
    const places = Object.values(positions);
    expect([Math.min(...places.map(({ x }) => x)), Math.min(...places.map(({ y }) => y))]).toEqual([0, 0]);
    for (const { source, target } of document.query.edges)
      expect((positions[target]?.x ?? 0) - (positions[source]?.x ?? 0)).toBeGreaterThan(NODE.width + 40);
  });

  it("leaves out edges that lead nowhere", async () => {
    const document = smallDocument();
    const astray = { source: "persons", target: "nobody", partitioning: { kind: "forward" } };
    const positions = await laidOut({ ...document, query: { ...document.query, edges: [...document.query.edges, astray] } }, true);
    expect(Object.keys(positions)).toHaveLength(document.query.operators.length);
  });

  it("goes on in rows where a line would be too long to read", async () => {
    const places = Object.values(await laidOut(chain(24), true));
    const width = Math.max(...places.map(({ x }) => x));
    const height = Math.max(...places.map(({ y }) => y));
    expect(width / height).toBeGreaterThan(1);
    expect(width / height).toBeLessThan(4);
  });

  // How long the largest queries take is a matter of benchmarks.viewers: here elk runs within the test, at the mercy of a busy machine.
  it("finds a place for each of 36 operators between 144 edges", async () => {
    const rows = 6;
    const operators = Array.from({ length: 6 * rows }, (_, at) => ({ id: `o${at}`, kind: at < rows ? "source" : "filter", parallelism: 1 }));
    const edges = Array.from({ length: 5 }, (_, turn) =>
      operators.slice(rows).map((operator, at) => ({
        source: `o${Math.floor(at / rows) * rows + ((at + 3 * turn) % rows)}`,
        target: operator.id,
        partitioning: { kind: "rebalance" },
      })),
    ).flat();
    const positions = await laidOut(coerceDocument({ query: { operators, edges: edges.slice(0, 144) } }), false);
    const places = Object.values(positions);
    expect(places).toHaveLength(operators.length);
    expect(edges.every(({ source, target }) => (positions[source]?.x ?? 0) < (positions[target]?.x ?? 0))).toBe(true);
    const apart = places.every((a, at) =>
      places.slice(at + 1).every((b) => Math.abs(a.x - b.x) >= NODE.width || Math.abs(a.y - b.y) >= NODE.header + NODE.port + NODE.footer),
    );
    expect(apart).toBe(true);
  });
});
