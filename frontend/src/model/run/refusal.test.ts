import { expect, it } from "vitest";
import { faultOf } from "./refusal";

const of = (pointer: string, url: Parameters<typeof faultOf>[1]) => faultOf(pointer, url)?.parameters ?? null;

it("names the part of the address that is at fault", () => {
  expect(of("/value", { columns: "run,foo" })).toEqual(["columns"]);
  expect(of("/by", { show: "groups", by: "per_ss" })).toContain("by");
  expect(of("/measure", { show: "groups", measures: "foo" })).toContain("measures");
  expect(of("/field", { show: "scatter", x: "foo" })).toEqual(["x", "y", "colour"]);
  expect(of("/field", { show: "parallel", axes: "foo" })).toEqual(["axes", "colour"]);
  expect(of("/filter/sort", { sort: "foo" })).toContain("sort");
  expect(faultOf("/search", { search: "p98>1" })?.title).toBe("Invalid search");
  expect(faultOf("/state", { state: "foo" })?.title).toBe("Invalid filter");
});

it("finds no fault with what the page asks for by itself", () => {
  expect(of("/measure", { show: "groups" })).toBeNull();
  expect(of("/field", { show: "scatter", search: "q3" })).toBeNull();
});
