import { describe, expect, it } from "vitest";
import type { Kind } from "../../api/types";
import { coerceDocument } from "../document/coerce";
import { edgeKey, horizonOf, warmupOf } from "../document/document";
import { faultsOf, gridOf as timeGridOf, spanOf, whomOf } from "../document/faults";
import { readDocument, writeDocument } from "../document/files";
import { describeHost, instancesByHost } from "../document/hosts";
import { localPlacement } from "../document/placement";
import { rateSummary } from "../document/rates";
import { KINDS, smallDocument } from "../document/testing";
import { downstream, inputType, partitioningLabel, recordTypes, upstream } from "./graph";
import { hardwareOf } from "./hardware";
import { positionsOf } from "./layout";

const JUNK = [null, 0, -1, 1e300, "", "x", "<script>", [], [null, 7, "a"], {}, { kind: 3 }, { a: { b: [] } }, true];

/** The same document with one of its parts, at any depth, replaced; `random` gives numbers below its argument. */
function spoil(value: unknown, random: (below: number) => number): unknown {
  if (typeof value !== "object" || value === null || random(5) === 0) return JUNK[random(JUNK.length)];
  const names = Object.keys(value);
  const name = names[random(names.length)];
  if (name === undefined) return JUNK[random(JUNK.length)];
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[name] = spoil(copy[name], random);
  return copy;
}

function numbers(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

/** All that the canvas asks of a document while it is drawn. */
function drawn(given: unknown) {
  const document = coerceDocument(given);
  const positions = positionsOf(document);
  const placement = localPlacement(document);
  const types = recordTypes(document, {}, new Map());
  const ids = document.query.operators.map((operator) => operator.id);
  return {
    ids,
    texts: [
      ...document.query.operators.flatMap((operator) => [operator.id, operator.kind]),
      ...document.query.edges.flatMap((edge) => [edgeKey(edge), partitioningLabel(edge.partitioning)]),
      ...document.cluster.hosts.flatMap((host) => [host.name, describeHost(host)]),
      ...faultsOf(document).map((fault) => `${whomOf(fault)} ${JSON.stringify(spanOf(undefined as Kind | undefined, fault))}`),
      ...Object.values(document.workload.sources).map((source) => rateSummary(source.rate)),
      document.name,
    ],
    places: ids.map((id) => positions[id]),
    hardware: hardwareOf(document, KINDS),
    instances: instancesByHost(document, placement),
    inputs: ids.map((id) => inputType(document, types, id, "in")),
    along: [upstream(document, ids), downstream(document, ids)],
    times: [horizonOf(document), warmupOf(document), timeGridOf(horizonOf(document))],
  };
}

describe("documents that are not what they should be", () => {
  const whole = { ...smallDocument(), faults: [{ kind: "pause", host: "w1", when: { kind: "at", at_s: 1 }, for_ms: 5 }] };

  it("can be drawn whatever is in them, as texts and places", () => {
    for (let seed = 0; seed < 400; seed += 1) {
      const random = numbers(seed);
      let spoiled: unknown = whole;
      for (let times = 0; times <= seed % 3; times += 1) spoiled = spoil(spoiled, random);
      const { ids, texts, places } = drawn(spoiled);
      expect(new Set(ids).size, `ids of seed ${seed}`).toBe(ids.length);
      expect(texts.filter((text) => typeof text !== "string"), `texts of seed ${seed}`).toEqual([]);
      expect(places.every((at) => Number.isFinite(at?.x) && Number.isFinite(at?.y)), `places of seed ${seed}`).toBe(true);
    }
  });

  it("stay as they are where they can be drawn", () => {
    expect(coerceDocument(whole)).toEqual(whole);
    const newer = { ...whole, format: 99, sketches: [1], policies: { novelty: { kind: "unheard_of", of: [2] } } };
    expect(coerceDocument(newer)).toEqual(newer);
    expect(readDocument(writeDocument(newer, "yaml"))).toEqual(newer);
  });
});
