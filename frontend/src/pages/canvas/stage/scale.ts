/** How much is drawn of large queries, so that they move as lightly as small ones. */
import { useStore, type ReactFlowState } from "@xyflow/react";
import type { ExperimentDocument } from "../../../api/document";

/** Larger queries draw only the operators in view, those from far away without what cannot be read there, and their edges together. */
const OPERATORS_MAX = 150;
const EDGES_MAX = 400;
/** Below this zoom the words on an operator are too small to read. */
const FAR_ZOOM = 0.5;

export const isLarge = ({ query }: ExperimentDocument) => query.operators.length > OPERATORS_MAX || query.edges.length > EDGES_MAX;

const isFar = (state: ReactFlowState) => state.transform[2] < FAR_ZOOM;
export const useIsFar = (): boolean => useStore(isFar);
