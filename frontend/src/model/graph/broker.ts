/** The host that keeps the changelogs of local stores. Documents describe it with the state, not among the hosts. */
import type { ExperimentDocument } from "../../api/document";
import { instancesOf } from "../document/document";

export const BROKER_WIDTH = 168;
/** As the engine takes it, if a document says nothing. */
const CORES = 8;

export interface Broker {
  cores: number;
  /** Operator of each partition; empty if the document does not name operators. */
  partitions: string[];
  about: string;
}

/** null: nothing is kept in changelogs. */
export function brokerOf(document: Pick<ExperimentDocument, "policies" | "query">): Broker | null {
  const state = document.policies?.state as { kind?: unknown; operators?: unknown; broker?: { cores?: unknown } } | undefined;
  if (state?.kind !== "changelog" && state?.kind !== "changelog_memory") return null;
  const named = Array.isArray(state.operators) ? state.operators : [];
  const stored = document.query.operators.filter(({ id }) => named.includes(id));
  const partitions = stored.flatMap((one) => Array.from({ length: Math.min(instancesOf(one), 1000) }, () => one.id));
  const about = stored.map((one) => `${one.id} ×${instancesOf(one)}`).join(", ") || "one for each instance with state";
  return { cores: typeof state.broker?.cores === "number" ? state.broker.cores : CORES, partitions, about };
}
