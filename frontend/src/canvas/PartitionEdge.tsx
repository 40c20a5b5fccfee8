import { BaseEdge, EdgeLabelRenderer, getBezierPath, useStore, type EdgeProps, type ReactFlowState } from "@xyflow/react";
import { memo } from "react";
import { edgeKey } from "../model/document";
import { partitioningLabel } from "../model/graph";
import { feedbackLane, feedbackPath, wrappedPath } from "../model/layout";
import { Icon } from "../ui/Icon";
import { select, useEditor } from "./editor";

/** An operator that begins so much lower than another stands in a row below it, px. */
const ROW = 72;

interface Way {
  path: string;
  x: number;
  y: number;
}

const sameWay = (a: Way | null, b: Way | null) => a?.path === b?.path;

/** The way of a feedback edge over the operators as they stand now, also while one is dragged; null for any other edge. */
function useFeedbackWay({ sourceX, sourceY, targetX, targetY }: EdgeProps, lane: number): Way | null {
  return useStore((state: ReactFlowState) => {
    if (lane < 0) return null;
    const boxes = state.nodes.filter((node) => node.type === "operator").map((node) => node.position);
    return feedbackPath({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, boxes, lane);
  }, sameWay);
}

/** To the right, or to the next row. */
function plainWay(props: EdgeProps): Way {
  const { sourceX, sourceY, targetX, targetY } = props;
  if (targetX < sourceX && targetY > sourceY + ROW) return wrappedPath({ x: sourceX, y: sourceY }, { x: targetX, y: targetY });
  const [path, x, y] = getBezierPath(props);
  return { path, x, y };
}

/** An edge with its partitioning on it; the label is what one clicks. A feedback edge is dashed, runs back above, and says so. */
export const PartitionEdge = memo(function PartitionEdge(props: EdgeProps) {
  const edge = useEditor((state) => state.document.query.edges.find((one) => edgeKey(one) === props.id));
  const tone = (props.data?.tone as string | undefined) ?? "";
  const lane = useEditor((state) => feedbackLane(state.document, props.id));
  const back = useFeedbackWay(props, lane);
  const { path, x, y } = back ?? plainWay(props);
  const style = `${props.selected ? "selected" : ""} ${back ? "feedback" : ""} ${tone}`;
  return (
    <>
      <BaseEdge id={props.id} path={path} className={`edge ${style}`} interactionWidth={16} />
      <EdgeLabelRenderer>
        <button
          className={`elab nodrag nopan ${style}`}
          style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          data-testid={`edge-${props.source}-${props.target}`}
          title={(props.data?.message as string | undefined) ?? (back ? "Feedback edge: carries records back" : "Partitioning")}
          onClick={() => select({ edges: [props.id] })}
        >
          {tone && <Icon name={tone === "err" ? "crossc" : "warn"} small />}
          {back && !tone && <Icon name="feedback" small />}
          {back ? "feedback, " : ""}
          {partitioningLabel(edge?.partitioning)}
        </button>
      </EdgeLabelRenderer>
    </>
  );
});
