import { expect, it } from "vitest";
import { cellText, fieldLabel, namesIn } from "./runFields";

it("says fields in words", () => {
  expect(fieldLabel("state")).toBe("State");
  expect(fieldLabel("/query/operators/join/parallelism")).toBe("join: parallelism");
  expect(fieldLabel("/query/operators/join/params/size")).toBe("join: size");
  expect(fieldLabel("/policies/checkpointing/kind")).toBe("Checkpointing kind");
  expect(fieldLabel("/workload/sources/persons/rate/per_s")).toBe("persons: rate");
  expect(fieldLabel("/workload/sources/persons/rate/kind")).toBe("persons: rate kind");
  expect(fieldLabel("/workload/horizon_s")).toBe("Horizon");
  expect(fieldLabel("operators.join.busy")).toBe("join: busy");
});

it("says values with their unit", () => {
  expect([cellText(1500, "ms"), cellText(12000, "/s"), cellText(3), cellText("map"), cellText(null), cellText("")]).toEqual(
    ["1.5 s", "12k/s", "3", "map", "not set", "empty"],
  );
});

it("reads names between commas once each", () => expect(namesIn("a,,b,a")).toEqual(["a", "b"]));
