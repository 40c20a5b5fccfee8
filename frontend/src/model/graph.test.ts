import { describe, expect, it } from "vitest";
import { connectionRefusal, firstPartitioning, partitioningLabel, recordTypes, type PortRef } from "./graph";
import { KINDS, smallDocument } from "./testing";

const out = (operator: string, port = "out"): PortRef => ({ operator, port, side: "out" });
const into = (operator: string, port = "in"): PortRef => ({ operator, port, side: "in" });

describe("what may be connected", () => {
  const document = smallDocument();
  const why = (from: PortRef, to: PortRef) => connectionRefusal(document, KINDS, from, to);

  it("takes an output and a free input, in either direction of drawing", () => {
    expect(why(out("auctions"), into("join", "right"))).toBeNull();
    expect(why(into("join", "right"), out("auctions"))).toBeNull();
  });

  it("refuses with a reason", () => {
    expect(why(out("auctions"), out("filter"))).toMatch(/Both ends are outputs/);
    expect(why(into("join", "left"), into("sink"))).toMatch(/Both ends are inputs/);
    expect(why(out("filter"), into("filter"))).toMatch(/cannot feed itself/);
    expect(why(out("persons"), into("filter"))).toMatch(/already feeds/);
    expect(why(out("auctions"), into("join", "middle"))).toMatch(/left, right/);
  });

  it("refuses to close a cycle", () => {
    expect(why(out("join"), into("filter"))).toMatch(/cycle/);
  });
});

describe("edges and records", () => {
  it("partitions a new edge by the receiver's key, else by parallelism", () => {
    const document = smallDocument();
    expect(firstPartitioning(document, out("auctions"), into("join", "right"))).toEqual({ kind: "hash", key: "seller" });
    expect(firstPartitioning(document, out("persons"), into("filter"))).toEqual({ kind: "forward" });
    expect(firstPartitioning(document, out("filter"), into("sink"))).toEqual({ kind: "rebalance" });
    expect(partitioningLabel({ kind: "hash", key: "seller" })).toBe("hash(seller)");
  });

  it("gives equal schemas one name and one shape", () => {
    const person = { fields: [{ name: "id", type: "int" }], bytes: 200 };
    const match = { fields: [{ name: "city", type: "string" }], bytes: 20 };
    const types = recordTypes(
      smallDocument(),
      { "persons.out": person, "filter.out": person, "join.out": match },
      new Map([["nexmark_person", "NexMark persons"]]),
    );
    expect(types.get("filter.out")).toMatchObject({ name: "Person", shape: 0 });
    expect(types.get("join.out")).toMatchObject({ name: "Join", shape: 1 });
  });
});
