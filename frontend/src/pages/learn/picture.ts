/** Where the parts of a space-time diagram stand, and in which state they are at a step. */
import type { CheckpointMark, Explained, LessonStep, MessageArrow, SpaceTimeDiagram } from "../../api/types";

/** Of a row, px; below the least one the picture scrolls. */
const ROW = { least: 30, most: 120 } as const;
const MARGIN = { top: 24, bottom: 34, right: 20 } as const;
/** Below this, px, columns scroll: names of messages would stand on one another. */
const COLUMN_LEAST = 26;
const LETTER = 7;

export interface Layout {
  width: number;
  height: number;
  left: number;
  right: number;
  x: (at: number) => number;
  y: (row: number) => number;
  ticks: number[];
  /** Whether there is room for the name of every checkpoint. */
  namesFit: boolean;
  /** Of a run the name repeats the row's; its number is enough. */
  short: (mark: CheckpointMark) => string;
}

export function layoutOf(diagram: SpaceTimeDiagram, width: number, height: number): Layout {
  const rows = diagram.instances.length;
  const longest = Math.min(14, Math.max(2, ...diagram.instances.map((name) => name.length)));
  const left = longest * LETTER + 24;
  const span = diagram.last - diagram.first || 1;
  const least = diagram.unit ? 0 : span * COLUMN_LEAST + left + MARGIN.right;
  const wide = Math.max(width, least);
  const row = Math.max(ROW.least, Math.min(ROW.most, (height - MARGIN.top - MARGIN.bottom) / Math.max(rows, 1)));
  const right = wide - MARGIN.right;
  const most = Math.max(0, ...diagram.instances.map((_, i) => diagram.checkpoints.filter(({ instance }) => instance === i).length));
  return {
    width: wide,
    height: MARGIN.top + MARGIN.bottom + rows * row,
    left,
    right,
    x: (at) => left + ((at - diagram.first) / span) * (right - left),
    y: (n) => MARGIN.top + (n + 0.5) * row,
    ticks: diagram.unit ? ticksOf(diagram.first, diagram.last, Math.max(2, Math.floor((right - left) / 90))) : [],
    namesFit: (!diagram.unit || most * 30 < right - left) && row >= 30,
    short: (mark) => (diagram.unit ? String(mark.name.split(" ").at(-1)) : mark.name),
  };
}

/** Round numbers in a span, at most so many. */
export function ticksOf(first: number, last: number, most: number): number[] {
  const rough = (last - first) / most;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? 10 * power;
  const found: number[] = [];
  for (let n = Math.ceil(first / step); n * step <= last; n++) found.push(Number((n * step).toPrecision(6)));
  return found;
}

/** Kinds of marks that are lines and dots in place of checkpoints: half the height of the line, or the dot's radius, px. */
export const MOMENTS: { [kind: string]: number } = { deadline: 22, result: 7, event: 4, watermark: 14, sweeping: 14, cycle: 8 };
export const isMoment = (kind: string) => kind in MOMENTS;
export const isRound = (kind: string) => kind === "result" || kind === "event";

export const shownIn = (act: number, step: LessonStep) => step.act === null || act <= step.act;

/** Of a checkpoint; the first that holds. */
export function stateOf(id: string, step: LessonStep): "marked" | "line" | "useless" | "discarded" | "" {
  if (step.marked.includes(id)) return "marked";
  if (step.line.includes(id)) return "line";
  if (step.useless.includes(id)) return "useless";
  if (step.discarded.includes(id)) return "discarded";
  return "";
}

export const MESSAGE_STATES = ["orphan", "lost", "stored", "in-flight", "aside", "told"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

const LISTS: { [state in MessageState]: (step: LessonStep) => string[] } = {
  orphan: (step) => step.orphans,
  lost: (step) => step.lost,
  stored: (step) => step.stored,
  "in-flight": (step) => step.in_flight,
  aside: (step) => step.aside,
  told: (step) => step.told,
};

export const messageState = (name: string, step: LessonStep): MessageState | "" =>
  MESSAGE_STATES.find((state) => LISTS[state](step).includes(name)) ?? "";

/** From its send to where it arrives; while it is under way, as far as between the sender's row and the next, where no instance is. */
export function arrowOf(message: MessageArrow, step: LessonStep, layout: Layout) {
  const arrived = message.arrives_at !== null && message.arrives_act !== null && shownIn(message.arrives_act, step);
  const [x1, y1] = [layout.x(message.sent_at), layout.y(message.sender)];
  const [toX, toY] = [layout.x(message.arrives_at ?? message.sent_at + 1), layout.y(message.receiver)];
  const share = arrived ? 1 : 0.5 / Math.max(1, Math.abs(message.receiver - message.sender));
  return { x1, y1, x2: x1 + (toX - x1) * share, y2: y1 + (toY - y1) * share, arrived };
}

export interface LegendEntry {
  mark: string;
  label: string;
  means: string;
}

const OF_CHECKPOINTS: [mark: string, label: string, means: string, has: (step: LessonStep) => boolean][] = [
  ["line", "in the line", "All instances would roll back to these", (step) => step.line.length > 0],
  ["marked", "marked", "Reachable from another member of the root: it must be replaced", (step) => step.marked.length > 0],
  ["discarded", "discarded", "Newer than the recovery line", (step) => step.discarded.length > 0],
  ["useless", "useless", "No recovery line can ever contain it", (step) => step.useless.length > 0],
];
const OF_MESSAGES: { [state in MessageState]: [label: string, means: string] } = {
  orphan: ["orphan", "Processed before the line, but sent after it"],
  lost: ["would be lost", "In flight, and not stored"],
  stored: ["in flight, stored", "Sent before the line, not processed before it, and stored with it"],
  "in-flight": ["in flight", "Sent before the line and not processed before it: replayed from the log"],
  aside: ["buffered", "Arrived after a barrier, and waits for the checkpoint"],
  told: ["in focus", "The subject of this step"],
};

const OF_STORIES: { [shows: string]: LegendEntry[] } = {
  schedule: [
    { mark: "served", label: "served", means: "The core serves an event of the query" },
    { mark: "deadline", label: "watermark", means: "When the watermark that ends the window comes" },
    { mark: "result", label: "result", means: "All events of the window are served, and its watermark has come" },
  ],
  windows: [
    { mark: "event", label: "event", means: "It waits in its window, or is dropped (crossed out) if that has fired" },
    { mark: "watermark", label: "watermark", means: "No event up to its time will follow" },
    { mark: "sweeping", label: "sweeping", means: "The first watermark of its input to reach the end of a window" },
    { mark: "open-window", label: "open window", means: "The window has events and has not fired" },
    { mark: "result", label: "fires", means: "The watermarks of all inputs have reached the window's end" },
  ],
  similarity: [
    { mark: "served", label: "inner range", means: "Up to half the threshold from the workset's centroid" },
    { mark: "result", label: "inner", means: "At home in the workset, within half the threshold of its centroid" },
    { mark: "event", label: "outlier", means: "At home in the workset, beyond half the threshold" },
    { mark: "cycle", label: "outer", means: "A copy, for the inner records and outliers of the workset" },
    { mark: "told", label: "copy", means: "Sent from the workset in which the record is at home" },
  ],
  balancing: [
    { mark: "served", label: "workset", means: "As long as its load" },
    { mark: "deadline", label: "mean", means: "The mean load of all workers" },
    { mark: "told", label: "move", means: "The workset goes to another worker" },
  ],
  changelog: [
    { mark: "basic", label: "value", means: "A record that sets its key" },
    { mark: "forced", label: "tombstone", means: "A record that deletes its key" },
    { mark: "useless", label: "superseded", means: "A newer record of its key is in the log: a pass removes it" },
    { mark: "discarded", label: "removed", means: "A pass has left it out" },
    { mark: "open-window", label: "segment", means: "The last one is active, until a record closes it" },
  ],
  local_store: [
    { mark: "basic", label: "value", means: "An entry that sets its key" },
    { mark: "forced", label: "tombstone", means: "An entry that deletes its key" },
    { mark: "useless", label: "superseded", means: "A newer entry of its key is in the same place" },
    { mark: "discarded", label: "gone", means: "A crash has taken it, or a merge has dropped it" },
    { mark: "told", label: "written out", means: "From the cache to the changelog" },
  ],
  output_log: [
    { mark: "basic", label: "opens", means: "A window opens: it has no state before this record" },
    { mark: "coordinated", label: "checkpoint", means: "The state of a window" },
    { mark: "result", label: "result", means: "A window has closed" },
    { mark: "useless", label: "superseded", means: "A newer record of its window is in the log, or it has closed" },
    { mark: "marked", label: "found", means: "The record from which a recovery takes the window" },
    { mark: "open-window", label: "extent", means: "The records that a recovery reads" },
  ],
  multi_join: [
    { mark: "event", label: "record", means: "It comes to the buffer of its row, or to a topic" },
    { mark: "open-window", label: "kept", means: "The buffer keeps it until it has matched" },
    { mark: "told", label: "joined", means: "What an operator has found goes to a topic" },
    { mark: "result", label: "result", means: "All streams have their record of the group" },
  ],
  forwarding: [
    { mark: "cycle", label: "cycle", means: "The host decides who runs next" },
    { mark: "told", label: "message", means: "Progress goes downstream, and costs go upstream" },
  ],
};

/** What the case's steps show somewhere; the same at each of them, so that nothing moves. */
export function legendOf({ shows, diagram, steps }: Explained): LegendEntry[] {
  const story = OF_STORIES[shows];
  if (story) return story;
  const found: LegendEntry[] = [{ mark: "basic", label: "checkpoint", means: "An instance's state, taken at this moment" }];
  if (diagram.checkpoints.some(({ kind }) => kind === "forced"))
    found.push({ mark: "forced", label: "forced", means: "Forced by a message, before processing it" });
  for (const [mark, label, means, has] of OF_CHECKPOINTS) if (steps.some(has)) found.push({ mark, label, means });
  if (steps.some(({ edges }) => edges.length))
    found.push({ mark: "edge", label: "checkpoint graph", means: "From the checkpoint before a send to the one after its processing" });
  for (const state of MESSAGE_STATES)
    if (steps.some((step) => LISTS[state](step).length)) {
      const [label, means] = OF_MESSAGES[state];
      found.push({ mark: state, label, means });
    }
  if (diagram.messages.some(({ kind }) => kind === "barrier"))
    found.push({ mark: "barrier", label: "barrier", means: "Cuts the stream into before and after the checkpoint" });
  if (diagram.waits.length) found.push({ mark: "wait", label: "blocked", means: "No input is taken from a channel whose barrier has arrived" });
  return found;
}

/** What is marked at a step, by name; an empty list is left out. */
export function knownAt(told: Explained, step: LessonStep): [label: string, names: string[]][] {
  const names = new Map(told.diagram.checkpoints.map(({ id, name }) => [id, name]));
  const named = (ids: string[]) => ids.map((id) => names.get(id) ?? id);
  const all: [string, string[]][] = [
    ["Line", named(step.line)],
    ["Marked", named(step.marked)],
    ["Discarded", named(step.discarded)],
    ["Useless", named(step.useless)],
    ["Orphans", step.orphans],
    ["Would be lost", step.lost],
    ["In flight", [...step.stored, ...step.in_flight]],
    ["Buffered", step.aside],
  ];
  return all.filter(([, found]) => found.length);
}
