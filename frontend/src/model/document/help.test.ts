import { describe, expect, it } from "vitest";
import type { Kind, Registry } from "../../api/types";
import { helpFamilies, parametersOf, searchHelp } from "./help";
import { kind } from "./testing";

const registry = {
  made_up: [{ ...kind("new", [], []), doc: "Something from a package." }],
  rates: [
    { ...kind("ramp", [], []), title: "Ramp", doc: "From one value to another." },
    { ...kind("steps", [], []), title: "Steps", doc: "Jumps, unlike a ramp." },
  ],
  operators: [kind("filter", ["in"], ["out"])],
} as Registry;

describe("help", () => {
  it("has every family of the registry, unknown ones too, in the order in which they are met", () => {
    expect(helpFamilies(registry).map(({ title }) => title)).toEqual(["Operators", "Rates", "Made up"]);
  });

  it("is searched by all words, titles first", () => {
    const found = searchHelp(helpFamilies(registry), "ramp");
    expect(found.map(({ family, kinds }) => [family, kinds.map((one) => one.kind)])).toEqual([["rates", ["ramp", "steps"]]]);
    expect(searchHelp(helpFamilies(registry), "package new").map(({ family }) => family)).toEqual(["made_up"]);
    expect(searchHelp(helpFamilies(registry), "nothing like it")).toEqual([]);
  });

  it("tells parameters with unit, range and whether they are required", () => {
    const schema: Kind["schema"] = {
      type: "object",
      required: ["period_s"],
      properties: {
        kind: { const: "spikes" },
        period_s: { type: "number", exclusiveMinimum: 0, maximum: 600, description: "of one spike" },
        mode: { enum: ["start", "drawn"], default: "start" },
      },
    };
    expect(parametersOf({ schema })).toEqual([
      { name: "period_s", label: "Period", unit: "s", type: "number", range: "required, above 0 to 600", description: "of one spike" },
      { name: "mode", label: "Mode", unit: "", type: "start, drawn", range: "default start", description: "" },
    ]);
  });
});
