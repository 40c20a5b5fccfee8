import { getBezierPath, Position } from "@xyflow/react";
import { memo, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { ExperimentDocument } from "../../api/document";
import type { Frame, OperatorSample } from "../../api/types";
import { bytes, latency, percent, plural, short } from "../../lib/format";
import { edgeKey } from "../../model/document/document";
import { aroundPath, feedbackLane, feedbackPath, gridOf, type Lane } from "../../model/graph/layout";
import { aligningSince } from "../../model/run/aligning";
import { BLOCKED_FROM } from "../../model/run/events";
import { instancesNow } from "../../model/document/queries";
import type { FrameLog } from "../../model/run/frames";
import { marksOf } from "../../model/run/marks";
import { verticesOf } from "../../model/run/scaling";
import { Icon } from "../../ui/Icon";

/** Of the panel, px. Columns share its width; below the least one, where names of ten letters still fit, the panel scrolls. */
const BOX = { height: 38, row: 48, column: { least: 76, most: 122 }, share: 0.86, margin: 7 } as const;
/** Feedback edges as on the canvas, in less room. */
const LOOP = { first: 8, step: 8, reach: 7, apart: 3, radius: 5, above: BOX.height / 2 } as const;

/** Instances that wait for barriers, records that they pass over, and since when (virtual seconds). */
type Waiting = { instances: number; passed_over: number; since_s: number | null };
type Shown = {
  name: string;
  parallelism: number | undefined;
  /** The policy takes it for one. */
  bottleneck: boolean;
  sample: OperatorSample | null;
  waiting: Waiting | null;
  onOpen: (name: string) => void;
  x: number;
  y: number;
  width: number;
};

const Operator = memo(function Operator({ name, parallelism, bottleneck, sample, waiting, onOpen, x, y, width }: Shown) {
  const busy = sample?.busy ?? 0;
  const blocked = sample?.blocked ?? 0;
  const most = sample?.most;
  const { tone, skewed } = marksOf(sample);
  return (
    <button
      type="button"
      onClick={() => onOpen(name)}
      className={`op ${tone} ${waiting ? "aligning" : ""} ${bottleneck ? "bottleneck" : ""}`}
      style={{ left: x, top: y, width, height: BOX.height }}
      title={sample ? `${describe(name, sample, waiting)}${bottleneck ? "\nA bottleneck according to the policy" : ""}` : `${name}: no data yet`}
      data-testid={`topology-${name}`}
    >
      <b className="ell">{name}</b>
      <small>
        <span data-testid={`parallelism-${name}`}>
          {bottleneck && <Icon name="warn" />}×{parallelism ?? 1}
        </span>
        {waiting && (
          <span data-testid={`aligning-${name}`}>
            <Icon name="pause" className="barred" />
            {waiting.instances}
          </span>
        )}
        <span>
          {blocked > busy && <Icon name="back" />}
          {sample ? percent(Math.max(busy, blocked)) : "–"}
          {skewed && most && <b data-testid={`most-${name}`}>max {percent(most.busy)}</b>}
        </span>
      </small>
      <span className="bar">
        <i style={{ width: percent(busy).replace(" ", "") }} />
        <u style={{ width: percent(blocked).replace(" ", "") }} />
        {most && <em style={{ left: percent(most.busy).replace(" ", "") }} />}
      </span>
    </button>
  );
});

function describe(name: string, sample: OperatorSample, waiting: Waiting | null): string {
  const number = (value: number | null, unit: string) => (value === null || value === undefined ? "–" : `${short(value)}${unit}`);
  return [
    name,
    `busy ${percent(sample.busy ?? 0)}, blocked ${percent(sample.blocked ?? 0)}, idle ${percent(Math.max(0, 1 - (sample.busy ?? 0) - (sample.blocked ?? 0)))}`,
    `in ${number(sample.in_per_s, "/s")}, out ${number(sample.out_per_s, "/s")}`,
    ...(sample.most
      ? [
          `busiest ${name}[${sample.most.busiest}] ${percent(sample.most.busy)}, longest queue ${name}[${sample.most.fullest}] ${short(sample.most.queue)} records`,
        ]
      : []),
    `queue ${number(sample.queue, " records")}`,
    `state ${sample.state_bytes === null ? "–" : bytes(sample.state_bytes)}`,
    `watermark lag ${sample.watermark_lag_ms === null || sample.watermark_lag_ms === undefined ? "–" : latency(sample.watermark_lag_ms).join(" ")}`,
    `late ${number(sample.late, "")}`,
    ...(sample.lost ? [`lost ${number(sample.lost, " records")}`] : []),
    ...(sample.shed ? [`shed ${number(sample.shed, " records")}`] : []),
    ...(waiting
      ? [
          `${plural(waiting.instances, "instance")} aligning${waiting.since_s === null ? "" : ` since ${waiting.since_s.toFixed(2)} s`}: ${plural(waiting.passed_over, "record")} buffered`,
        ]
      : []),
  ].join("\n");
}

/** Where everything stands in a panel so wide, px. The columns and rows are those of the canvas. */
function drawingOf(document: ExperimentDocument, width: number) {
  const grid = gridOf(document);
  const cells = Object.values(grid);
  const columns = 1 + Math.max(0, ...cells.map(({ column }) => column));
  const rows = 1 + Math.max(0, ...cells.map(({ row }) => row));
  const loops = document.query.edges.filter((edge) => edge.feedback).length;
  const left = BOX.margin + (loops ? LOOP.reach + loops * LOOP.apart : 0);
  const top = BOX.margin + (loops ? LOOP.first + loops * LOOP.step : 0);
  const pitch = Math.max(BOX.column.least, Math.min(BOX.column.most, Math.floor((width - 2 * left) / (columns - 1 + BOX.share))));
  const box = Math.floor(pitch * BOX.share);
  const lane: Lane = { ...LOOP, width: box };
  const places = Object.fromEntries(
    Object.entries(grid).map(([id, { column, row }]) => [id, { x: left + column * pitch, y: top + row * BOX.row }]),
  );
  const wraps = new Map<number, number>();
  const paths = document.query.edges.flatMap((edge) => {
    const [source, target] = [places[edge.source], places[edge.target]];
    if (!source || !target) return [];
    const from = { x: source.x + box, y: source.y + BOX.height / 2 };
    const to = { x: target.x, y: target.y + BOX.height / 2 };
    return [{ edge, path: pathOf(from, to, edge.feedback ? feedbackLane(document, edgeKey(edge)) : -1) }];
  });
  function pathOf(from: { x: number; y: number }, to: { x: number; y: number }, loop: number): string {
    if (loop >= 0) return feedbackPath(from, to, Object.values(places), loop, lane).path;
    if (to.x < from.x && to.y > from.y) return wrapped(from, to);
    const ends = { sourceX: from.x, sourceY: from.y, targetX: to.x, targetY: to.y };
    return getBezierPath({ ...ends, sourcePosition: Position.Right, targetPosition: Position.Left })[0];
  }
  /** To a row below: back in the gap above that row, where no operator stands; up to three side by side. */
  function wrapped(from: { x: number; y: number }, to: { x: number; y: number }): string {
    const before = wraps.get(to.y) ?? 0;
    wraps.set(to.y, before + 1);
    const reach = Math.min((pitch - box) / 2, BOX.margin - 1);
    const y = to.y - BOX.row / 2 + 3 * (((before + 1) % 3) - 1);
    return aroundPath(from, to, to.x - reach, from.x + reach, y, LOOP.radius);
  }
  return {
    places,
    paths,
    box,
    width: 2 * left + (columns - 1) * pitch + box,
    height: top + (rows - 1) * BOX.row + BOX.height + BOX.margin,
  };
}

/** What of an operator waits for barriers at a frame; null if nothing does. */
function waitingAt(log: FrameLog, frame: Frame | undefined, id: string): Waiting | null {
  const { instances, passed_over } = frame?.checkpoints?.aligning.operators[id] ?? {};
  return frame && instances ? { instances, passed_over: passed_over ?? 0, since_s: aligningSince(log, frame.n, id) } : null;
}

/** Operators of the vertices that the last iteration took for bottlenecks. */
function bottlenecksAt(document: ExperimentDocument, log: FrameLog, frame: Frame | undefined): string[] {
  const named = (frame && log.scaling.decisionAt(frame.t_s)?.bottlenecks) ?? [];
  return named.length ? verticesOf(document).filter((vertex) => vertex.some((id) => named.includes(id))).flat() : [];
}

/**
 * The query, coloured by what its operators did at the moment shown: busy solid, blocked hatched with «, idle empty. Operators that wait
 * for barriers, edges whose channels are barred, and what the scaling policy takes for bottlenecks are marked.
 */
export function Topology({
  document,
  frame,
  log,
  onOperator,
}: {
  document: ExperimentDocument;
  frame: Frame | undefined;
  log: FrameLog;
  /** Opens the instances of an operator. */
  onOperator: (id: string) => void;
}) {
  const panel = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = panel.current;
    if (!element) return;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const drawing = useMemo(() => drawingOf(document, width), [document, width]);
  const slow = new Set(bottlenecksAt(document, log, frame));
  return (
    <div className="topo scroll" ref={panel} data-testid="topology">
      <div style={{ width: drawing.width, height: drawing.height }}>
        <svg width={drawing.width} height={drawing.height} aria-hidden>
          <marker id="upstream" viewBox="0 0 6 6" refX="0" refY="3" markerWidth="4" markerHeight="4" orient="auto">
            <path d="M6 0L0 3l6 3z" className="arrow" />
          </marker>
          {drawing.paths.map(({ edge, path }) => {
            // Backpressure walks upstream: an edge is held up when its sender is blocked.
            const held = (frame?.operators?.[edge.source]?.blocked ?? 0) >= BLOCKED_FROM;
            const barred = frame?.checkpoints?.aligning.barred_channels[edgeKey(edge)] ?? 0;
            const classes = [held && "held", barred > 0 && "barred", edge.feedback && "feedback"].filter(Boolean).join(" ");
            const logged = frame?.checkpoints?.logs?.[edgeKey(edge)];
            return (
              <g key={edgeKey(edge)}>
                <path d={path} className={classes} markerStart={held ? "url(#upstream)" : undefined} />
                {logged !== undefined && (
                  <path d={path} className="hit">
                    <title>{`${edge.source} to ${edge.target}: ${bytes(logged)} in the logs of its channels`}</title>
                  </path>
                )}
              </g>
            );
          })}
        </svg>
        {document.query.operators.map(({ id, parallelism }) => (
          <Operator
            key={id}
            name={id}
            parallelism={instancesNow(document, id, parallelism ?? 1, frame?.scaling?.parallelism)}
            bottleneck={slow.has(id)}
            sample={frame?.operators?.[id] ?? null}
            waiting={waitingAt(log, frame, id)}
            onOpen={onOperator}
            x={drawing.places[id]?.x ?? 0}
            y={drawing.places[id]?.y ?? 0}
            width={drawing.box}
          />
        ))}
      </div>
    </div>
  );
}
