/** Auto-layout beside the page: elk works in a worker, so that the page goes on and the work can be stopped. */
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import type { ExperimentDocument, Position } from "../../../api/document";
import type { Kind } from "../../../api/types";
import { layoutGraph, positionsFrom } from "../../../model/graph/autoLayout";
import { isLarge } from "./scale";

/** Positions for all operators. Elk (1.5 MB) is loaded only when somebody asks for it. Rejects when stopped, or when elk finds no way. */
export async function arranged(
  document: ExperimentDocument,
  kinds: Map<string, Kind>,
  stop: AbortSignal,
): Promise<{ [operator: string]: Position }> {
  const { default: Elk } = await import("elkjs/lib/elk-api");
  stop.throwIfAborted();
  const labelled = !isLarge(document);
  const elk = new Elk({ workerUrl });
  try {
    const stopped = new Promise<never>((_, reject) => stop.addEventListener("abort", () => reject(stop.reason as Error)));
    const answer = await Promise.race([elk.layout(layoutGraph(document, kinds, labelled)), stopped]);
    return positionsFrom(answer, labelled);
  } finally {
    elk.terminateWorker();
  }
}
