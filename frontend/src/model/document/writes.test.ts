import { describe, expect, it } from "vitest";
import { changeAt, valueAt, writeAt } from "./writes";

type Fields = { [field: string]: unknown };

describe("a write", () => {
  it("changes the newest value, whatever its form was drawn from", () => {
    const drawnFrom = { window: { kind: "tumbling" } };
    const size = writeAt<Fields>(["window", "size_s"], 5); // as the form of `drawnFrom` reports it
    const newest = { ...drawnFrom, left_key: "id", right_key: "seller" };
    expect(size(newest)).toEqual({ left_key: "id", right_key: "seller", window: { kind: "tumbling", size_s: 5 } });
  });

  it("makes the objects on its way, and removes what is undefined", () => {
    expect(writeAt(["sources", "bids", "rate"], 1)(undefined)).toEqual({ sources: { bids: { rate: 1 } } });
    expect(writeAt<Fields>(["a"], undefined)({ a: 1, b: 2 })).toEqual({ b: 2 });
  });

  it("changes one entry of a list, and none that is gone", () => {
    const links = [{ ms: 1 }, { ms: 2 }];
    expect(changeAt({ links }, ["links", "1", "ms"], () => 3)).toEqual({ links: [{ ms: 1 }, { ms: 3 }] });
    expect(changeAt({ links }, ["links", "2", "ms"], () => 3)).toEqual({ links });
    expect(valueAt({ links }, ["links", "1", "ms"])).toBe(2);
    expect(valueAt({ links }, ["links", "7", "ms"])).toBeUndefined();
  });
});
