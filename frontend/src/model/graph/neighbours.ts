/** From one operator or edge to the next by key: along the edges to the left and right, by place up and down. */
import type { Edge, ExperimentDocument } from "../../api/document";
import { edgeKey, operatorOf } from "../document/document";
import { lookupOf } from "../document/lookup";
import { positionsOf } from "./layout";

export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** The operator that the arrow leads to, or null at the border. Without a start: the first one. */
export function neighbourOf(document: ExperimentDocument, id: string | undefined, arrow: Arrow): string | null {
  const operators = document.query.operators.map((operator) => operator.id);
  if (id === undefined || !operatorOf(document, id)) return operators[0] ?? null;
  const positions = positionsOf(document);
  const at = (other: string) => positions[other] ?? { x: 0, y: 0 };
  const here = at(id);
  const along = document.query.edges.flatMap((edge) =>
    arrow === "ArrowRight" && edge.source === id ? [edge.target] : arrow === "ArrowLeft" && edge.target === id ? [edge.source] : [],
  );
  const sign = arrow === "ArrowRight" || arrow === "ArrowDown" ? 1 : -1;
  const sideways = arrow === "ArrowLeft" || arrow === "ArrowRight";
  // How far on in the arrow's direction, and how far beside it.
  const offset = (other: string) => {
    const [x, y] = [at(other).x - here.x, at(other).y - here.y];
    return sideways ? { on: sign * x, beside: Math.abs(y) } : { on: sign * y, beside: Math.abs(x) };
  };
  const candidates = along.length ? along : operators.filter((other) => other !== id && offset(other).on > 0);
  const cost = (other: string) => Math.abs(offset(other).on) + 2 * offset(other).beside;
  return candidates.filter((other) => other !== id).sort((a, b) => cost(a) - cost(b))[0] ?? null;
}

/**
 * The edge after (step 1) or before (-1) one, among those that leave the same operator. From an operator: the first or last that leaves
 * it, or, of a sink, arrives. From nothing: of all edges.
 */
export function edgeBeside(
  document: ExperimentDocument,
  operator: string | undefined,
  edge: string | undefined,
  step: 1 | -1,
): Edge | null {
  const { edges } = document.query;
  const current = lookupOf(document).edges.get(edge ?? "");
  const source = current?.source ?? operator;
  const leaving = edges.filter((one) => one.source === source);
  const arriving = edges.filter((one) => one.target === source);
  const around = source === undefined ? edges : leaving.length ? leaving : arriving;
  const at = current ? around.findIndex((one) => edgeKey(one) === edge) : step > 0 ? -1 : 0;
  return around.at((at + step) % around.length) ?? null;
}
