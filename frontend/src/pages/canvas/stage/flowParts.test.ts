import { describe, expect, it } from "vitest";
import type { Kind } from "../../../api/types";
import { edgeKey } from "../../../model/document/document";
import { moveOperators } from "../../../model/document/edits";
import { smallDocument } from "../../../model/document/testing";
import { NOTHING } from "../editor";
import { atTheirPlaces, flowEdges, operatorNodes, singleEdges } from "./flowParts";

const KINDS = new Map<string, Kind>();
const byId = (nodes: ReturnType<typeof operatorNodes>) => new Map(nodes.map((node) => [node.id, node]));

describe("nodes of the flow", () => {
  it("stand where the document has them, and stay the same while nothing about them changes", () => {
    const document = smallDocument();
    const first = operatorNodes(document, KINDS, new Map(), ["join"]);
    expect(first.map(({ id }) => id)).toEqual(document.query.operators.map(({ id }) => id));
    expect(first.filter(({ selected }) => selected).map(({ id }) => id)).toEqual(["join"]);
    const moved = operatorNodes(moveOperators(document, { sink: { x: 8, y: 16 } }), KINDS, byId(first), ["join"]);
    expect(moved.filter((node, at) => node !== first[at]).map(({ id, position }) => [id, position])).toEqual([["sink", { x: 8, y: 16 }]]);
  });

  it("go back to their places after a drag that moved nothing", () => {
    const document = smallDocument();
    const nodes = operatorNodes(document, KINDS, new Map(), []);
    const dragged = nodes.map((node) => ({ ...node, position: { x: 1, y: 1 } }));
    expect(atTheirPlaces(dragged, document).map(({ position }) => position)).toEqual(nodes.map(({ position }) => position));
  });
});

describe("edges of the flow", () => {
  it("are all drawn one by one in a small query, and marked with their problems", () => {
    const document = smallDocument();
    const drawn = singleEdges(document, NOTHING);
    expect(drawn).toBe(document.query.edges);
    const problem = { severity: "error", code: "c", pointer: "/query/edges/0", message: "wrong", hint: "" } as never;
    const edges = flowEdges(drawn, document, [problem], NOTHING, []);
    expect(edges.map(({ data }) => data?.tone)).toEqual(["err", ...drawn.slice(1).map(() => "")]);
    expect(flowEdges(drawn, document, [problem], NOTHING, edges).every((edge, at) => edge === edges[at])).toBe(true);
  });

  it("are drawn one by one in a large query only around what is selected", () => {
    const small = smallDocument();
    const [first, last] = [small.query.edges[0], small.query.edges.at(-1)];
    if (!first || !last) throw new Error("the example has edges");
    const many = Array.from({ length: 401 }, () => ({ ...first, source: "a", target: "b" }));
    const large = { ...small, query: { ...small.query, edges: [first, ...many, last] } };
    expect(singleEdges(large, NOTHING)).toEqual([]);
    expect(singleEdges(large, { ...NOTHING, operators: [last.target] })).toContain(last);
    expect(singleEdges(large, { ...NOTHING, edges: [edgeKey(first)] })).toEqual([first]);
  });
});
