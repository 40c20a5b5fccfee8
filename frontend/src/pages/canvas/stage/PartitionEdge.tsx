import { BaseEdge, EdgeLabelRenderer, useStore, type EdgeProps, type ReactFlowState } from "@xyflow/react";
import { memo, useState } from "react";
import { DEFAULT_PORT } from "../../../model/document/document";
import { lookupOf } from "../../../model/document/lookup";
import { TONE_ICON, type Tone } from "../../../model/document/validate";
import { wayOf, type Way } from "../../../model/graph/edgeWay";
import { partitioningLabel } from "../../../model/graph/graph";
import { NODE } from "../../../model/graph/layout";
import { Icon } from "../../../ui/Icon";
import { select, useEditor } from "../editor";
import { useRecordTypes } from "./OperatorNode";

export interface EdgeMarks {
  tone: Tone | "";
  message: string;
  /** Of a feedback edge; -1 for any other. */
  lane: number;
}

/** So much of a label is always shown, px. */
const LABEL_MIN = 40;

const sameWay = (a: Way, b: Way) => a.path === b.path;
const isOperator = (node: { type?: string }) => node.type === "operator";

/** Over the operators as they stand now, also while one is dragged. */
function useWay({ sourceX, sourceY, targetX, targetY }: EdgeProps, lane: number): Way {
  return useStore((state: ReactFlowState) => {
    const boxes = () => state.nodes.filter(isOperator).map((node) => node.position);
    return wayOf({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, lane, boxes);
  }, sameWay);
}

/** An edge with its partitioning on it; the label is what one clicks. A feedback edge is dashed, runs back above, and says so. */
export const PartitionEdge = memo(function PartitionEdge(props: EdgeProps) {
  const { tone, message, lane } = props.data as unknown as EdgeMarks;
  const edge = useEditor((state) => lookupOf(state.document).edges.get(props.id));
  const { path, x, y } = useWay(props, lane);
  const [looking, setLooking] = useState(false);
  const back = lane >= 0;
  const style = `${props.selected ? "selected" : ""} ${back ? "feedback" : ""} ${tone}`;
  const label = partitioningLabel(edge?.partitioning);
  // Between two operators side by side a long label would run under them.
  const isLevel = !back && Math.abs(props.targetY - props.sourceY) < NODE.header;
  const gap = props.targetX - props.sourceX;
  return (
    <>
      <BaseEdge id={props.id} path={path} className={`edge ${style}`} interactionWidth={16} />
      <EdgeLabelRenderer>
        <button
          className={`elab nodrag nopan ${style}`}
          style={{
            transform: `translate(-50%, -50%) translate(${x}px, ${y}px)`,
            maxWidth: isLevel && !looking && !props.selected ? Math.max(LABEL_MIN, gap) : undefined,
          }}
          data-edge={props.id}
          data-testid={`edge-${props.source}-${props.target}`}
          aria-label={`Edge from ${props.source} to ${props.target}: ${back ? "feedback, " : ""}${label}. ${message}`}
          onClick={() => select({ edges: [props.id] })}
          onPointerEnter={() => setLooking(true)}
          onPointerLeave={() => setLooking(false)}
          onFocus={() => setLooking(true)}
          onBlur={() => setLooking(false)}
        >
          {tone && <Icon name={TONE_ICON[tone]} small />}
          {back && !tone && <Icon name="feedback" small />}
          <span className="ell">
            {back ? "feedback, " : ""}
            {label}
          </span>
        </button>
        {(looking || props.selected) && edge && (
          <RecordsCard
            x={x}
            y={y}
            output={`${edge.source}.${edge.source_port ?? DEFAULT_PORT.source}`}
            hashKey={typeof edge.partitioning.key === "string" ? edge.partitioning.key : ""}
            note={message || (back ? "A feedback edge carries records back, but no watermarks." : "")}
          />
        )}
      </EdgeLabelRenderer>
    </>
  );
});

/** What flows on an edge: the record's type, its fields, and the one that it is partitioned by. */
function RecordsCard({ x, y, output, hashKey, note }: { x: number; y: number; output: string; hashKey: string; note: string }) {
  const type = useRecordTypes().get(output);
  return (
    <div className="records-card" style={{ transform: `translate(-50%, 0) translate(${x}px, ${y + 16}px)` }} data-testid="records-card">
      <header>
        <b>{type?.name ?? "Records"}</b>
        <span>{type ? `${type.schema.bytes} B` : "available once the query is valid up to here"}</span>
      </header>
      {type && (
        <dl>
          {type.schema.fields.map((field) => (
            <div key={field.name}>
              <dt>{field.name}</dt>
              <dd>
                {field.type}
                {field.name === hashKey && <b> key</b>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {note && <p>{note}</p>}
    </div>
  );
}
