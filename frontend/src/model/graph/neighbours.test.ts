import { describe, expect, it } from "vitest";
import { edgeKey } from "../document/document";
import { smallDocument } from "../document/testing";
import { edgeBeside, neighbourOf, type Arrow } from "./neighbours";

describe("arrows", () => {
  const document = {
    ...smallDocument(),
    ui: {
      positions: {
        persons: { x: 0, y: 0 },
        auctions: { x: 0, y: 128 },
        filter: { x: 200, y: 0 },
        join: { x: 400, y: 64 },
        sink: { x: 600, y: 64 },
      },
    },
  };
  const from = (id: string | undefined, arrow: Arrow) => neighbourOf(document, id, arrow);

  it("follow the edges to the left and right, and go by place else", () => {
    expect(from("persons", "ArrowRight")).toBe("filter");
    expect(from("join", "ArrowLeft")).toBe("filter");
    expect(from("auctions", "ArrowRight")).toBe("filter");
    expect(from("persons", "ArrowDown")).toBe("auctions");
    expect(from("auctions", "ArrowUp")).toBe("persons");
  });

  it("end at the border, and begin at the first operator", () => {
    expect(from("sink", "ArrowRight")).toBeNull();
    expect(from(undefined, "ArrowRight")).toBe("persons");
    expect(from("gone", "ArrowLeft")).toBe("persons");
  });
});

describe("edges by key", () => {
  const document = smallDocument();
  const ends = (operator: string | undefined, edge: string | undefined, step: 1 | -1) => {
    const found = edgeBeside(document, operator, edge, step);
    return found && `${found.source} ${found.target}`;
  };

  it("begin with those that leave the operator, or arrive at a sink", () => {
    expect(ends("persons", undefined, 1)).toBe("persons filter");
    expect(ends("join", undefined, -1)).toBe("join sink");
    expect(ends("sink", undefined, 1)).toBe("join sink");
  });

  it("go round among those that leave one operator", () => {
    for (const first of document.query.edges) {
      const around = document.query.edges.filter((edge) => edge.source === first.source);
      let edge: typeof first | null = first;
      for (const _ of around) edge = edgeBeside(document, undefined, edgeKey(edge as typeof first), 1);
      expect(edge).toBe(first);
    }
  });

  it("are all of them where nothing is selected, and none where there are none", () => {
    const [first, last] = [document.query.edges[0], document.query.edges.at(-1)];
    expect([edgeBeside(document, undefined, undefined, 1), edgeBeside(document, undefined, undefined, -1)]).toEqual([first, last]);
    expect(edgeBeside({ ...document, query: { ...document.query, edges: [] } }, "join", undefined, 1)).toBeNull();
  });
});
