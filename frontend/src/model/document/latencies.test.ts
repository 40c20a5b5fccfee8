import { describe, expect, it } from "vitest";
import type { Json } from "../../api/types";
import { latenciesOf, latencyTitle, withFurther } from "./latencies";

it("reads names as words", () => {
  expect(["", "topic_wait"].map(latencyTitle)).toEqual(["measured", "topic wait"]);
});

describe("latenciesOf", () => {
  it("says of each latency from where to where it counts", () => {
    const also: Json[] = [
      { name: "processing", from: "ingest" },
      { name: "lag", from: "deadline", to: "emit" },
    ];
    expect(latenciesOf({ latency: { from: "event", anchor: "oldest" }, also })).toEqual([
      { name: "", definition: "event time to output, oldest record" },
      { name: "processing", definition: "ingest to output, newest record" },
      { name: "lag", definition: "the record's own event time to emission" },
    ]);
  });

  it("adds one under a free name, and says what it is", () => {
    const [first, second] = withFurther(withFurther([]));
    expect([first?.name, second?.name]).toEqual(["latency_2", "latency_3"]);
    expect(withFurther([{ name: "lag" }, { name: "latency_4" }]).at(-1)?.name).toBe("latency_5");
    expect(first).toMatchObject({ from: "event", anchor: "newest", to: "sink" });
  });

  it("knows the defaults of documents that say nothing", () => {
    expect(latenciesOf(undefined)).toEqual([{ name: "", definition: "append to output, triggering record" }]);
  });
});
