import { describe, expect, it } from "vitest";
import { found } from "./search";

const THINGS = ["Undo", "Delete and reconnect", "Connect the operator", "Show the faults"];
const search = (words: string) => found(THINGS, words, (thing) => thing);

describe("search", () => {
  it("keeps all, in order, for nothing", () => expect(search("  ")).toEqual(THINGS));
  it("wants every word, in any order", () => expect(search("reconnect del")).toEqual(["Delete and reconnect"]));
  it("puts first what begins so, then what has a word that begins so", () =>
    expect(search("connect")).toEqual(["Connect the operator", "Delete and reconnect"]));
  it("finds nothing where nothing is", () => expect(search("xyz")).toEqual([]));
});
