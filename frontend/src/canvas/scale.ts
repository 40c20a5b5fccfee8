/** How much is drawn of large queries, so that they move as lightly as small ones. */
import { useStore, type ReactFlowState } from "@xyflow/react";
import type { ExperimentDocument } from "../model/document";

/** Larger queries draw only the operators in view, and those from far away without what cannot be read there. */
const OPERATORS_MAX = 150;
/** More edges than this are drawn together. */
const EDGES_MAX = 400;
/** Below this zoom the words on an operator are too small to read. */
const FAR_ZOOM = 0.5;

export const hasManyOperators = (document: ExperimentDocument) => document.query.operators.length > OPERATORS_MAX;
export const hasManyEdges = (document: ExperimentDocument) => document.query.edges.length > EDGES_MAX;

const isFar = (state: ReactFlowState) => state.transform[2] < FAR_ZOOM;
export const useIsFar = (): boolean => useStore(isFar);
