import { describe, expect, it } from "vitest";
import { neighbourOf, type Arrow } from "./neighbours";
import { smallDocument } from "./testing";

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
