import { describe, expect, it } from "vitest";
import { callAt, completionsAt, type ExpressionFunction, written } from "./completion";
import { kind } from "./testing";

const called = (name: string, text: string): ExpressionFunction => ({
  ...kind(name, [], []),
  doc: "Help.",
  example: "",
  signatures: [{ text, parameters: [], repeated: false, result: "int" }],
});
const FUNCTIONS = [called("floor", "floor(x: float) -> int"), called("min", "min(a: int, b: int) -> int")];
const FIELDS = [
  { name: "price", type: "int" },
  { name: "Price (EUR)", type: "float" },
  { name: "state", type: "string" },
];
const at = (marked: string, wanted = false) => completionsAt(marked.replace("|", ""), marked.indexOf("|"), FIELDS, FUNCTIONS, wanted);
const texts = (marked: string, wanted = false) => at(marked, wanted).items.map((item) => item.text);

describe("completion", () => {
  it("offers fields, functions and words by how they begin", () => {
    expect(texts("pri|")).toEqual(["price", 'record["Price (EUR)"]']);
    expect(texts("price > f|")).toEqual(["floor()", "False"]);
    expect(texts("price > 3 a|")).toEqual(["and"]);
    expect(at("fl|")?.items[0]).toMatchObject({ detail: "(x: float) -> int", caret: 6 });
  });

  it("replaces the whole word, also that of a field that is no identifier", () => {
    expect(at("1 + pr|ic")).toMatchObject({ from: 4, to: 8 });
    expect(at('record["Pri|')).toMatchObject({ from: 0, to: 11 });
    expect(texts('record["Pri|')).toContain('record["Price (EUR)"]');
  });

  it("quotes reserved words, spaces, accents and emoji as the language reads them", () => {
    expect(["class", "lambda", "if", "class_", "Größe", "🚕", 'say "a"', "a\nb", "a\u2028b"].map(written)).toEqual([
      'record["class"]',
      'record["lambda"]',
      'record["if"]',
      "class_",
      'record["Größe"]',
      'record["🚕"]',
      'record["say \\"a\\""]',
      'record["a\\nb"]',
      'record["a\\u2028b"]',
    ]);
    const fields = ["class", "Größe", "Price (EUR)"].map((name) => ({ name, type: "int" }));
    const offered = (marked: string) => completionsAt(marked.replace("|", ""), marked.indexOf("|"), fields, []);
    expect(offered("clas|").items[0]?.text).toBe('record["class"]');
    expect(offered("Grö| > 3")).toMatchObject({ from: 0, to: 3, items: [{ text: 'record["Größe"]' }] });
    expect(offered('1 + record["Price (E|UR)"] > 3')).toMatchObject({ from: 4, to: 25, items: [] });
    expect(offered('1 + record["Price (E| > 3')).toMatchObject({ from: 4, items: [{ text: 'record["Price (EUR)"]' }] });
  });

  it("offers all when asked, else nothing for nothing, in a text, in a number, or when it is written already", () => {
    expect(texts("price > |", true)).toHaveLength(8);
    expect(texts("price > |")).toEqual([]);
    expect(texts("state == 'pri|")).toEqual([]);
    expect(texts("price > 3|")).toEqual([]);
    expect(texts("state|")).toEqual([]);
  });

  it("knows the call around the caret, and the argument", () => {
    const call = (marked: string) => callAt(marked.replace("|", ""), marked.indexOf("|"), FUNCTIONS);
    expect(call("min(floor(x), |")).toMatchObject({ called: { kind: "min" }, argument: 1 });
    expect(call("min(floor(|")).toMatchObject({ called: { kind: "floor" }, argument: 0 });
    expect(call("(price + |")).toBeNull();
    expect(call("floor(x) + |")).toBeNull();
  });
});
