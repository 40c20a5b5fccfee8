/** A document's parts by their names: what hundreds of nodes and thousands of edges ask is worked out once for each document. */
import type { Edge, ExperimentDocument, Operator } from "../../api/document";
import { rememberLast } from "../../lib/memo";
import { DEFAULT_PORT, edgeKey } from "./document";

interface Lookup {
  operators: Map<string, Operator>;
  /** Of operators in the document. */
  indices: Map<string, number>;
  edges: Map<string, Edge>;
  /** The edge that says what arrives at an input port "<operator>.<port>": the first one that is no feedback edge, else the first. */
  into: Map<string, Edge>;
}

export const lookupOf = rememberLast((document: ExperimentDocument): Lookup => {
  const into = new Map<string, Edge>();
  for (const edge of document.query.edges) {
    const port = `${edge.target}.${edge.target_port ?? DEFAULT_PORT.target}`;
    const known = into.get(port);
    if (!known || (known.feedback && !edge.feedback)) into.set(port, edge);
  }
  return {
    operators: new Map(document.query.operators.map((operator) => [operator.id, operator])),
    indices: new Map(document.query.operators.map((operator, index) => [operator.id, index])),
    edges: new Map(document.query.edges.map((edge) => [edgeKey(edge), edge])),
    into,
  };
});
