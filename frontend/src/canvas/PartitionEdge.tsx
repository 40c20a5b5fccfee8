import { BaseEdge, EdgeLabelRenderer, getBezierPath, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { edgeKey } from "../model/document";
import { partitioningLabel } from "../model/graph";
import { Icon } from "../ui/Icon";
import { select, useEditor } from "./editor";

/** An edge with its partitioning on it; the label is what one clicks. */
export const PartitionEdge = memo(function PartitionEdge(props: EdgeProps) {
  const edge = useEditor((state) => state.document.query.edges.find((one) => edgeKey(one) === props.id));
  const tone = (props.data?.tone as string | undefined) ?? "";
  const [path, x, y] = getBezierPath(props);
  return (
    <>
      <BaseEdge id={props.id} path={path} className={`edge ${props.selected ? "selected" : ""} ${tone}`} interactionWidth={16} />
      <EdgeLabelRenderer>
        <button
          className={`elab nodrag nopan ${props.selected ? "selected" : ""} ${tone}`}
          style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          data-testid={`edge-${props.source}-${props.target}`}
          title={(props.data?.message as string | undefined) ?? "Partitioning"}
          onClick={() => select({ edges: [props.id] })}
        >
          {tone && <Icon name={tone === "err" ? "crossc" : "warn"} small />}
          {partitioningLabel(edge?.partitioning)}
        </button>
      </EdgeLabelRenderer>
    </>
  );
});
