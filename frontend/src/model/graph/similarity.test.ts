import { describe, expect, it } from "vitest";
import type { ExperimentDocument } from "../../api/document";
import { emptyDocument, operatorOf } from "../document/document";
import { addOperator, patchOperator, removeParts } from "../document/edits";
import { addSimilarityJoin, inStep, joinOf, stagesWith, vectorFields } from "./similarity";

const floats = (...names: string[]) => names.map((name) => ({ name, type: "float" as const, optional: false }));
const SCHEMAS = { "a.out": { fields: [...floats("x1", "x2"), { name: "id", type: "int" as const, optional: false }] }, "b.out": { fields: floats("y1", "y2") } };

function sources(): ExperimentDocument {
  const source = (id: string) => ({ id, kind: "source", parallelism: 1, params: {} });
  const workload = { stream: { kind: "vectors" }, rate: { kind: "constant", per_s: 10 } };
  return ["a", "b"].reduce((document, id, n) => addOperator(document, source(id), { x: 0, y: 100 * n }, workload), emptyDocument());
}

const params = (document: ExperimentDocument, id: string) => operatorOf(document, id)?.params as Record<string, unknown>;

describe("a similarity join drawn at once", () => {
  const [document, added] = addSimilarityJoin(sources(), { x: 200, y: 0 }, 3, SCHEMAS);

  it("has all its stages, between the two sources that fed nothing", () => {
    expect(added).toEqual(["left-spaces", "right-spaces", "worksets", "join"]);
    expect(document.query.edges.map(({ source, target, target_port }) => [source, target, target_port])).toEqual([
      ["a", "left-spaces", undefined],
      ["left-spaces", "worksets", "left"],
      ["worksets", "join", "left"],
      ["b", "right-spaces", undefined],
      ["right-spaces", "worksets", "right"],
      ["worksets", "join", "right"],
    ]);
    expect(params(document, "right-spaces").coordinates).toEqual(["y1", "y2"]);
    expect(params(document, "join").left_coordinates).toEqual(["x1", "x2"]);
  });

  it("joins a stream with itself", () => {
    const [own, ids] = addSimilarityJoin(removeParts(sources(), ["b"], []), { x: 0, y: 0 }, 2, SCHEMAS, 1);
    expect(ids.map((id) => operatorOf(own, id)?.kind)).toEqual(["space_partitioner", "self_workset_formulation", "self_similarity_join"]);
    expect(own.query.edges.map(({ source, target, target_port }) => [source, target, target_port])).toEqual([
      ["a", "spaces", undefined],
      ["spaces", "worksets", undefined],
      ["worksets", "join", undefined],
    ]);
    const other = inStep(own, patchOperator(own, "spaces", { params: { ...params(own, "spaces"), coordinates: ["u"] } as never }), "spaces");
    expect(params(other, "join").coordinates).toEqual(["u"]);
    expect(params(own, "worksets")).toMatchObject({ coordinates: ["x1", "x2"], workers: 2 });
  });

  it("takes free names, and no source that feeds something", () => {
    const [twice, second] = addSimilarityJoin(document, { x: 0, y: 400 }, 3, SCHEMAS);
    expect(second).toEqual(["left-spaces-2", "right-spaces-2", "worksets-2", "join-2"]);
    expect(stagesWith(twice, "join-2")).toEqual(second);
  });

  it("keeps what has to agree equal in all its stages", () => {
    const change = (id: string, changed: Record<string, unknown>) =>
      inStep(document, patchOperator(document, id, { params: { ...params(document, id), ...changed } as never }), id);
    const farther = change("join", { threshold: 0.2, window: { kind: "full_history" }, lateness_ms: 3, pairs: "counted" });
    for (const id of added) expect(params(farther, id).threshold).toBe(0.2);
    expect(params(farther, "worksets").window).toEqual({ kind: "full_history" });
    expect(params(farther, "worksets").lateness_ms).toBe(3);
    expect(params(farther, "left-spaces").window).toBeUndefined();
    expect(params(farther, "worksets").pairs).toBeUndefined();
    const other = change("right-spaces", { coordinates: ["u", "v"], seed: 7 });
    expect(params(other, "join").right_coordinates).toEqual(["u", "v"]);
    expect(params(other, "join").left_coordinates).toEqual(["x1", "x2"]);
    expect(params(other, "left-spaces")).toMatchObject({ coordinates: ["x1", "x2"], seed: 7 });
    expect(stagesWith(other, "a")).toEqual([]);
    expect([joinOf(other, "right-spaces"), joinOf(other, "join"), joinOf(other, "a")]).toEqual(["join", "join", null]);
  });

  it("finds the vector among the fields of a record", () => {
    expect(vectorFields(floats("price", "embedding_1", "embedding_2", "embedding_3"))).toEqual(["embedding_1", "embedding_2", "embedding_3"]);
    expect(vectorFields(floats("lat", "lon"))).toEqual(["lat", "lon"]);
    expect(vectorFields([...floats("x1", "x2"), { name: "v", type: "vector" }])).toEqual(["v"]);
  });
});
