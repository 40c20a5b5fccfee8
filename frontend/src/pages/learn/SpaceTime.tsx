import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { CheckpointMark, Explained, LessonStep, MessageArrow } from "../../api/types";
import { arrowOf, isMoment, isRound, layoutOf, messageState, MOMENTS, shownIn, stateOf, type Layout } from "./picture";

/** Of a checkpoint's mark, px: half its side. */
const HALF = 6;

/** A row for each instance, checkpoints as marks, messages as arrows, and the line that the step speaks of. */
export function SpaceTime({ told, step }: { told: Explained; step: LessonStep }) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // What the step speaks of may stand below or beside what is to be seen.
  useEffect(() => {
    void box.current?.querySelector(".message.orphan, .checkpoint.focus, .checkpoint.marked")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [step]);
  const layout = useMemo(() => layoutOf(told.diagram, size.width, size.height), [told, size]);
  const { diagram } = told;
  const marks = diagram.checkpoints.filter((mark) => shownIn(mark.act, step));
  const byId = useMemo(() => new Map(diagram.checkpoints.map((mark) => [mark.id, mark])), [diagram]);
  return (
    <div className="space-time scroll" ref={box} tabIndex={0} role="region" aria-label="Diagram">
      {size.width > 0 && (
        <svg width={layout.width} height={layout.height} role="img" aria-label={`${step.title}. ${step.text}`} data-testid="space-time">
          <defs>
            <pattern id="barred" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width="2" height="6" />
            </pattern>
          </defs>
          {diagram.unit && <Ticks layout={layout} unit={diagram.unit} />}
          {diagram.instances.map((name, row) => (
            <g key={name} className="row">
              <text x={layout.left - 12} y={layout.y(row) + 4} className="who">
                {name.length > 14 ? `${name.slice(0, 13)}…` : name}
                <title>{name}</title>
              </text>
              <path d={`M${layout.left} ${layout.y(row)}H${layout.right}`} />
            </g>
          ))}
          {diagram.bars
            .filter(({ act, until_act }) => shownIn(act, step) && (until_act === null || !shownIn(until_act, step)))
            .map(({ instance, at, until }) => {
              // Over an axis of acts it lasts as long as the story has come.
              const end = diagram.unit ? until : Math.min(until, step.act ?? until);
              return (
                <rect
                  key={`${instance} ${at}`}
                  className={diagram.unit ? "served" : "open-window"}
                  x={layout.x(at)}
                  y={layout.y(instance) - 9}
                  width={layout.x(end) - layout.x(at)}
                  height="18"
                />
              );
            })}
          {diagram.waits
            .filter(({ act }) => shownIn(act, step))
            .map((wait, n, waits) => {
              const above = waits.slice(0, n).filter(({ instance }) => instance === wait.instance).length; // others of the row
              const over = wait.until_act !== null && shownIn(wait.until_act, step) ? wait.until : null;
              const end = over === null ? layout.right : layout.x(over);
              return (
                <g key={`${wait.instance} ${wait.sender}`} className="wait">
                  <rect x={layout.x(wait.at)} y={layout.y(wait.instance) - 5} width={Math.max(0, end - layout.x(wait.at))} height="10" />
                  <text x={layout.x(wait.at) + 4} y={layout.y(wait.instance) - 9 - 12 * above}>
                    {diagram.instances[wait.sender]} blocked
                  </text>
                </g>
              );
            })}
          {step.line.length > 0 && (
            <path
              className={`line ${step.verdict}`}
              data-testid="line"
              d={lineOf(step.line.map((id) => byId.get(id)).filter((mark) => mark !== undefined), layout)}
            />
          )}
          {step.edges.map(([tail, head]) => {
            const [from, to] = [byId.get(tail), byId.get(head)];
            return from && to && <path key={`${tail} ${head}`} className="edge" d={edgeOf(from, to, layout)} />;
          })}
          {diagram.messages
            // of a run each step has its own
            .filter(({ name, sent_act }) => shownIn(sent_act, step) && (!diagram.unit || messageState(name, step)))
            .map((message) => (
              <Message key={message.name} message={message} step={step} layout={layout} />
            ))}
          {marks.map((mark) => isMoment(mark.kind) ? (
            <Moment key={mark.id} mark={mark} step={step} layout={layout} unit={diagram.unit} named={told.shows === "similarity"} />
          ) : (
            <Checkpoint key={mark.id} mark={mark} step={step} layout={layout} named={layout.namesFit || step.line.includes(mark.id)} />
          ))}
        </svg>
      )}
    </div>
  );
}

/** Top to bottom, a little beyond the outer rows. */
function lineOf(marks: CheckpointMark[], layout: Layout): string {
  const [first, last] = [marks[0], marks.at(-1)];
  if (!first || !last) return "";
  const points = marks.map(({ at, instance }) => `${layout.x(at)} ${layout.y(instance)}`);
  return `M${layout.x(first.at)} ${layout.y(first.instance) - 20}L${points.join("L")}L${layout.x(last.at)} ${layout.y(last.instance) + 20}`;
}

/** A bow from mark to mark, with its head. */
function edgeOf(from: CheckpointMark, to: CheckpointMark, layout: Layout): string {
  const [x1, y1, x2, y2] = [layout.x(from.at), layout.y(from.instance), layout.x(to.at), layout.y(to.instance)];
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const end = [x2 - ux * (HALF + 3), y2 - uy * (HALF + 3)] as const;
  const bow = Math.min(26, length / 5);
  const [cx, cy] = [(x1 + x2) / 2 - uy * bow, (y1 + y2) / 2 + ux * bow];
  const [ex, ey] = [end[0] - cx, end[1] - cy];
  const turn = Math.hypot(ex, ey) || 1;
  const [vx, vy] = [ex / turn, ey / turn];
  const wing = (side: number) => `${end[0] - 7 * vx - side * 3.5 * vy} ${end[1] - 7 * vy + side * 3.5 * vx}`;
  return `M${x1} ${y1}Q${cx} ${cy} ${end[0]} ${end[1]}M${wing(1)}L${end[0]} ${end[1]}L${wing(-1)}`;
}

function Message({ message, step, layout }: { message: MessageArrow; step: LessonStep; layout: Layout }) {
  const state = messageState(message.name, step);
  const { x1, y1, x2, y2, arrived } = arrowOf(message, step, layout);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const head = [x2 - ux * 8, y2 - uy * 8] as const;
  const isProcessed = message.processed_act !== null && shownIn(message.processed_act, step);
  const processed = isProcessed && message.processed_at !== null ? layout.x(message.processed_at) : null;
  const later = arrived && processed !== null && processed > x2 + 1;
  const barrier = message.kind === "barrier";
  const told = message.kind === "record" ? (message.name.split(", ").at(-1) ?? "") : ""; // of a run the ends are to be seen
  const share = arrived ? 0.38 : 0.6;
  const [lx, ly] = [x1 + (x2 - x1) * share, y1 + (y2 - y1) * share];
  return (
    <g className={`message ${message.kind} ${state}`} data-message={message.name} data-state={state}>
      <path className="way" d={`M${x1} ${y1}L${arrived ? `${head[0]} ${head[1]}` : `${x2} ${y2}`}`} />
      {arrived && !barrier && <path className="head" d={headOf(x2, y2, ux, uy)} />}
      {arrived && barrier && <path className="bar" d={`M${x2 - uy * 7} ${y2 + ux * 7}L${x2 + uy * 7} ${y2 - ux * 7}`} />}
      {!arrived && <path className="open" d={`M${x2 - 6 * ux - 4 * uy} ${y2 - 6 * uy + 4 * ux}L${x2} ${y2}L${x2 - 6 * ux + 4 * uy} ${y2 - 6 * uy - 4 * ux}`} />}
      <circle className="sent" cx={x1} cy={y1} r="2" />
      {later && <path className="kept" d={`M${x2} ${y2}q4 -9 10 -9H${processed - 10}q6 0 10 9`} />}
      {later && <circle className="sent" cx={processed} cy={y2} r="3" />}
      {told && (
        <text x={lx} y={ly} dx={4} dy={uy < 0 ? 12 : -2}>
          {told}
        </text>
      )}
      <title>{message.name}</title>
    </g>
  );
}

const headOf = (x: number, y: number, ux: number, uy: number) =>
  `M${x} ${y}L${x - 9 * ux - 4 * uy} ${y - 9 * uy + 4 * ux}L${x - 9 * ux + 4 * uy} ${y - 9 * uy - 4 * ux}z`;

interface MomentProps {
  mark: CheckpointMark;
  step: LessonStep;
  layout: Layout;
  unit: string;
  named: boolean;
}

/** When something comes to a row, or is given by it: a watermark, an event, a result. */
function Moment({ mark, step, layout, unit, named }: MomentProps) {
  const [x, y, size] = [layout.x(mark.at), layout.y(mark.instance), MOMENTS[mark.kind] ?? 7];
  const state = stateOf(mark.id, step);
  const focus = step.focus.includes(mark.id);
  const isNamed = named || mark.kind === "watermark" || mark.kind === "sweeping" || state === "useless";
  return (
    <g className={`checkpoint ${mark.kind} ${state} ${focus ? "focus" : ""}`} data-checkpoint={unit ? `${mark.name} ${mark.instance}` : mark.name}>
      {isRound(mark.kind) ? <circle cx={x} cy={y} r={size} /> : <path d={`M${x} ${y - size}V${y + size}`} />}
      {state === "useless" && <path className="gone" d={`M${x - 6} ${y - 6}l12 12m0 -12l-12 12`} />}
      {isNamed && (
        <text x={x} y={y - Math.max(size, named ? 9 : 0) - 5}>
          {mark.name}
        </text>
      )}
      <title>{unit ? `${mark.name} at ${mark.at} ${unit}` : mark.name}</title>
    </g>
  );
}

function Checkpoint({ mark, step, layout, named }: { mark: CheckpointMark; step: LessonStep; layout: Layout; named: boolean }) {
  const state = stateOf(mark.id, step);
  const [x, y] = [layout.x(mark.at), layout.y(mark.instance)];
  const forced = mark.kind === "forced";
  const shape = forced ? `M${x} ${y - 8}l8 8l-8 8l-8 -8z` : `M${x - HALF} ${y - HALF}h${2 * HALF}v${2 * HALF}h${-2 * HALF}z`;
  return (
    <g className={`checkpoint ${mark.kind} ${state} ${step.focus.includes(mark.id) ? "focus" : ""}`} data-checkpoint={mark.name} data-state={state}>
      {(state === "marked" || step.focus.includes(mark.id)) && <circle className="ring" cx={x} cy={y} r="12" />}
      <path d={shape} />
      {(state === "discarded" || state === "useless") && <path className="gone" d={`M${x - 4} ${y - 4}l8 8m0 -8l-8 8`} />}
      {mark.kind !== "start" && named && (
        <text x={x} y={y + 22}>
          {layout.short(mark)}
        </text>
      )}
      <title>{mark.name}</title>
    </g>
  );
}

function Ticks({ layout, unit }: { layout: Layout; unit: string }) {
  return (
    <g className="ticks">
      {layout.ticks.map((at) => (
        <g key={at}>
          <path d={`M${layout.x(at)} 8V${layout.height - 20}`} />
          <text x={layout.x(at)} y={layout.height - 6}>
            {at} {unit}
          </text>
        </g>
      ))}
    </g>
  );
}
