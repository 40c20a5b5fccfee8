import { describe, expect, it } from "vitest";
import { coerceDocument } from "../document/coerce";
import { edgeKey, operatorOf } from "../document/document";
import { addEdge, setEdge } from "../document/edits";
import { KINDS, smallDocument } from "../document/testing";
import { writeAt } from "../document/writes";
import {
  connectionNote,
  connectionRefusal,
  downstream,
  firstPartitioning,
  newEdge,
  partitioningLabel,
  recordTypes,
  removeAndReconnect,
  upstream,
  withParams,
  type PortRef,
} from "./graph";
import { feedbackLane, feedbackPath, positionsOf, wrappedPath } from "./layout";

const out = (operator: string, port = "out"): PortRef => ({ operator, port, side: "out" });
const into = (operator: string, port = "in"): PortRef => ({ operator, port, side: "in" });

describe("what may be connected", () => {
  const document = smallDocument();
  const why = (from: PortRef, to: PortRef) => connectionRefusal(document, KINDS, {}, from, to);

  it("takes an output and a free input, in either direction of drawing", () => {
    expect(why(out("auctions"), into("join", "right"))).toBeNull();
    expect(why(into("join", "right"), out("auctions"))).toBeNull();
  });

  it("refuses with a reason", () => {
    expect(why(out("auctions"), out("filter"))).toMatch(/Both ends are outputs/);
    expect(why(into("join", "left"), into("sink"))).toMatch(/Both ends are inputs/);
    expect(why(out("persons"), into("filter"))).toMatch(/already feeds/);
    expect(why(out("auctions"), into("join", "middle"))).toMatch(/left, right/);
  });

  it("refuses records that are not like those which the input gets already", () => {
    const person = { fields: [{ name: "id", type: "int" }], bytes: 200 };
    const auction = { fields: ["id", "item", "text", "reserve", "time", "seller"].map((name) => ({ name, type: "int" })), bytes: 500 };
    const bring = (auctions: typeof person) => {
      const schemas = { "persons.out": person, "auctions.out": auctions };
      return connectionRefusal(document, KINDS, schemas, out("auctions"), into("filter"));
    };
    expect(bring(person)).toBeNull();
    expect(bring(auction)).toMatch(/gets \(id\) from persons; auctions would send \(id, item, text, reserve, time, …\)/);
  });
});

describe("along the edges", () => {
  const document = smallDocument();

  it("finds what feeds and what is fed", () => {
    expect([...upstream(document, ["join"])].sort()).toEqual(["filter", "join", "persons"]);
    expect([...downstream(document, ["filter"])].sort()).toEqual(["filter", "join", "sink"]);
  });

  it("connects around what is removed, as the receivers had it", () => {
    const one = removeAndReconnect(document, ["filter"]);
    expect(one.query.edges.map(edgeKey)).toEqual(["join.out>sink.in", "persons.out>join.left"]);
    expect(one.query.edges[1]?.partitioning).toEqual({ kind: "hash", key: "id" });
    const both = removeAndReconnect(document, ["filter", "join"]);
    expect(both.query.edges.map(edgeKey)).toEqual(["persons.out>sink.in"]);
  });

  it("makes no edge twice, and none from an end", () => {
    const twice = addEdge(document, newEdge(document, out("persons"), into("join", "left")));
    expect(removeAndReconnect(twice, ["filter"]).query.edges).toHaveLength(2);
    expect(removeAndReconnect(document, ["sink"]).query.edges).toHaveLength(2);
  });
});

describe("feedback edges", () => {
  const document = smallDocument();

  it("makes what closes a cycle a feedback edge, also of an operator to itself", () => {
    expect(connectionRefusal(document, KINDS, {}, out("join"), into("filter"))).toBeNull();
    expect(newEdge(document, out("join"), into("filter"))).toMatchObject({ source: "join", target: "filter", feedback: true });
    expect(newEdge(document, out("filter"), into("filter")).feedback).toBe(true);
    expect(newEdge(document, out("auctions"), into("join", "right")).feedback).toBeUndefined();
  });

  it("takes a plain edge where a feedback edge closes the cycle already", () => {
    const back = addEdge(coerceDocument({ query: { ...document.query, edges: [] } }), {
      ...newEdge(document, out("join"), into("filter")),
      feedback: true,
    });
    expect(newEdge(back, out("filter"), into("join", "left")).feedback).toBeUndefined();
  });

  it("refuses a feedback edge that would be the only way to an operator", () => {
    const edges = [
      { source: "persons", target: "filter", partitioning: { kind: "forward" } },
      { source: "join", target: "filter", partitioning: { kind: "forward" } },
    ];
    const odd = { ...document, query: { ...document.query, edges } };
    expect(connectionRefusal(odd, KINDS, {}, out("filter"), into("join", "left"))).toMatch(/only feedback edges lead to join/);
  });

  it("says while drawing what it will be, and whether its records fit", () => {
    const person = { fields: [{ name: "id", type: "int" }], bytes: 200 };
    const match = { fields: [{ name: "city", type: "string" }], bytes: 20 };
    const note = (brings: typeof person) =>
      connectionNote(document, { "filter.in": person, "join.out": brings }, out("join"), into("filter"));
    expect(note(person)).toMatchObject({ fits: true });
    expect(note(match)).toMatchObject({ fits: false, message: expect.stringMatching(/expects id here, but join sends city/) });
    expect(connectionNote(document, {}, out("persons"), into("join", "left"))).toBeNull();
  });

  it("switches an edge there and back; a plain edge declares no fields", () => {
    const key = edgeKey(document.query.edges[1] as never);
    const on = setEdge(document, key, () => ({ feedback: true, fields: [{ name: "id", type: "int" }] }));
    expect(on.query.edges[1]).toMatchObject({ feedback: true, fields: [{ name: "id", type: "int" }] });
    expect(setEdge(on, key, (before) => ({ ...before, feedback: false }))).toEqual(document);
  });

  it("stands in the layout as if it were not there, and runs above what lies between its ends", () => {
    const plain = positionsOf({ ...document, ui: {} });
    const looped = addEdge({ ...document, ui: {} }, newEdge(document, out("join"), into("filter")));
    expect(positionsOf(looped)).toEqual(plain);
    const twice = addEdge(looped, newEdge(looped, out("join"), into("join", "left")));
    const lanes = ["join.out>filter.in", "join.out>join.left", "filter.out>join.left"].map((key) => feedbackLane(twice, key));
    expect(lanes).toEqual([1, 0, -1]);
    const boxes = [
      { x: 0, y: 0 },
      { x: 192, y: -80 },
      { x: 384, y: 0 },
    ];
    const lane = (to: number, number: number) => feedbackPath({ x: 516, y: 38 }, { x: to, y: 38 }, boxes, number).y;
    expect(lane(0, 0)).toBeLessThan(-80);
    expect(lane(0, 1)).toBeLessThan(lane(0, 0));
    expect(lane(384, 0)).toBeGreaterThan(-80);
  });

  it("arrives at one port on ways that do not cover each other", () => {
    const upright = (lane: number) => feedbackPath({ x: 516, y: 38 }, { x: 0, y: 38 }, [], lane).path.split("V").at(-1);
    expect(upright(0)).not.toBe(upright(1));
  });
});

describe("an edge to the next row", () => {
  it("runs between the rows, the wider one lower", () => {
    const to = { x: 0, y: 194 };
    const [near, far] = [wrappedPath({ x: 324, y: 38 }, to), wrappedPath({ x: 900, y: 38 }, to)];
    expect(near.y).toBeGreaterThan(38 + 45);
    expect(far.y).toBeLessThan(194 - 38);
    expect(far.y).toBeGreaterThan(near.y + 6);
    expect(near.path).toMatch(/^M324 38H.*H0$/);
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
      { "filter.in": person, "join.left": match, "persons.out": person, "filter.out": person, "join.out": match },
      new Map([["nexmark_person", "NexMark persons"]]),
    );
    expect(types.get("filter.out")).toMatchObject({ name: "Person", shape: 0 });
    expect(types.get("join.out")).toMatchObject({ name: "Join", shape: 1 });
  });
});

describe("keys and the edges that bring them", () => {
  const document = smallDocument();
  const partitionings = (next: typeof document) => next.query.edges.filter(({ target }) => target === "join").map((edge) => edge.partitioning);
  const keyed = (left_key: string, from = document) => withParams(from, "join", () => ({ left_key, right_key: "seller" }));

  it("lets an edge follow its receiver's key, with what else it says", () => {
    const [first] = partitionings(keyed("id"));
    expect(first).toMatchObject({ kind: "hash", key: "id" });
    expect(partitionings(keyed("state", keyed("id")))[0]).toMatchObject({ kind: "hash", key: "state" });
  });

  it("partitions what was drawn before there was a key", () => {
    const edge = { source: "filter", target: "join", target_port: "left", partitioning: { kind: "forward" } };
    const unkeyed = { ...withParams(document, "join", () => ({})), query: { operators: withParams(document, "join", () => ({})).query.operators, edges: [edge] } };
    expect(partitionings(keyed("id", unkeyed))).toEqual([{ kind: "hash", key: "id" }]);
  });

  it("follows keys and takes a number at the same instant, in either order", () => {
    const key = (from = document) => withParams(from, "join", writeAt(["left_key"], "state"));
    const size = (from = document) => withParams(from, "join", writeAt(["window"], { kind: "tumbling", size_s: 5 }));
    for (const after of [key(size()), size(key())]) {
      expect(operatorOf(after, "join")?.params).toMatchObject({ left_key: "state", right_key: "seller", window: { size_s: 5 } });
      expect(partitionings(after)[0]).toMatchObject({ kind: "hash", key: "state" });
    }
  });

  it("leaves alone what was partitioned otherwise, and what loses its key", () => {
    const other = { source: "filter", target: "join", target_port: "left", partitioning: { kind: "broadcast" } };
    const odd = { ...document, query: { ...document.query, edges: [other] } };
    expect(partitionings(keyed("state", keyed("id", odd)))).toEqual([{ kind: "broadcast" }]);
    expect(partitionings(withParams(keyed("id"), "join", () => ({})))[0]).toMatchObject({ kind: "hash", key: "id" });
  });
});
