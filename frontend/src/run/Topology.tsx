import { Handle, Position, ReactFlow, ReactFlowProvider, useReactFlow, type Edge, type Node, type NodeProps } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { memo, useEffect, useMemo, useRef } from "react";
import type { Frame, OperatorSample } from "../api/types";
import { type ExperimentDocument } from "../model/document";
import { BLOCKED_FROM } from "../model/events";
import { PITCH, positionsOf } from "../model/layout";
import { bytes, percent, short } from "../ui/format";
import { Icon } from "../ui/Icon";

const HOT_FROM = 0.8;
/** The layered layout, drawn closer together than on the canvas: these nodes are smaller, and there is less room. */
const SCALE = { x: 114 / PITCH.x, y: 78 / PITCH.y };

type OpData = { name: string; parallelism: number; sample: OperatorSample | null };

const OpNode = memo(function OpNode({ data }: NodeProps) {
  const { name, parallelism, sample } = data as OpData;
  const busy = sample?.busy ?? 0;
  const blocked = sample?.blocked ?? 0;
  const tone = blocked >= BLOCKED_FROM ? "bp" : busy >= HOT_FROM ? "hot" : "";
  const words = !sample ? "no data" : blocked > busy ? `blocked ${percent(blocked)}` : `busy ${percent(busy)}`;
  return (
    <div className={`op ${tone}`} title={sample ? describe(name, sample) : `${name}: no data yet`} data-testid={`topology-${name}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <b>
        <span className="ell">{name}</span>
        <i>×{parallelism}</i>
      </b>
      <small>
        {blocked > busy && <Icon name="back" />}
        {words}
      </small>
      <div className="bar">
        <i style={{ width: percent(busy).replace(" ", "") }} />
        <u style={{ width: percent(blocked).replace(" ", "") }} />
      </div>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

const NODE_TYPES = { op: OpNode };

function describe(name: string, sample: OperatorSample): string {
  const number = (value: number | null, unit: string) => (value === null || value === undefined ? "–" : `${short(value)}${unit}`);
  return [
    name,
    `busy ${percent(sample.busy ?? 0)}, blocked ${percent(sample.blocked ?? 0)}, idle ${percent(Math.max(0, 1 - (sample.busy ?? 0) - (sample.blocked ?? 0)))}`,
    `in ${number(sample.in_per_s, "/s")}, out ${number(sample.out_per_s, "/s")}`,
    `queue ${number(sample.queue, " records")}`,
    `state ${sample.state_bytes === null ? "–" : bytes(sample.state_bytes)}`,
    `watermark lag ${number(sample.watermark_lag_ms, " ms")}`,
    `late ${number(sample.late, "")}`,
    ...(sample.lost ? [`lost ${number(sample.lost, " records")}`] : []),
    ...(sample.shed ? [`shed ${number(sample.shed, " records")}`] : []),
  ].join("\n");
}

/** The query, coloured by what its operators did at the moment shown: busy solid, blocked hatched with «, idle empty. */
export function Topology({ document, frame }: { document: ExperimentDocument; frame: Frame | undefined }) {
  return (
    <ReactFlowProvider>
      <Graph document={document} frame={frame} />
    </ReactFlowProvider>
  );
}

function Graph({ document, frame }: { document: ExperimentDocument; frame: Frame | undefined }) {
  const flow = useReactFlow();
  const box = useRef<HTMLDivElement>(null);
  const nodes: Node[] = useMemo(() => {
    const positions = positionsOf({ ...document, ui: {} });
    return document.query.operators.map((operator) => {
      const at = positions[operator.id] ?? { x: 0, y: 0 };
      return {
        id: operator.id,
        type: "op",
        position: { x: at.x * SCALE.x, y: at.y * SCALE.y },
        data: { name: operator.id, parallelism: operator.parallelism, sample: frame?.operators?.[operator.id] ?? null },
      };
    });
  }, [document, frame]);
  const edges: Edge[] = useMemo(
    () =>
      document.query.edges.map((edge, index) => {
        // Backpressure walks upstream: an edge is held up when its sender is blocked.
        const held = (frame?.operators?.[edge.source]?.blocked ?? 0) >= BLOCKED_FROM;
        return { id: String(index), source: edge.source, target: edge.target, className: `${held ? "held" : ""} ${edge.feedback ? "feedback" : ""}` };
      }),
    [document, frame],
  );
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const fit = () => void flow.fitView({ padding: 0.06, maxZoom: 1.12 });
    const observer = new ResizeObserver(fit);
    observer.observe(element);
    const timer = setTimeout(fit, 60);
    return () => {
      observer.disconnect();
      clearTimeout(timer);
    };
  }, [flow, document]);
  return (
    <div className="topo" ref={box} data-testid="topology">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        elementsSelectable={false}
        edgesFocusable={false}
        minZoom={0.1}
        panOnScroll={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        fitView
        fitViewOptions={{ padding: 0.06, maxZoom: 1.12 }}
      />
    </div>
  );
}
