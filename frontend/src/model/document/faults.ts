/** Faults over the run's horizon: when each is, and how moving or stretching it is written down. Any kind that names its times as usual. */
import type { ExperimentDocument } from "../../api/document";
import type { Death, Json, Kind, Tagged } from "../../api/types";
import { horizonOf } from "./document";
import { expandHosts } from "./hosts";
import { initialValue, propertyNames } from "./schema";

export interface Span {
  start_s: number;
  /** Null: until the end of the run. */
  end_s: number | null;
}

/** Lengths by the fields that hold them, in s. */
const LENGTHS = { for_ms: 0.001, for_s: 1, restart_after_s: 1 } as const;
type Length = keyof typeof LENGTHS;

/** Faults of a kind begin at `from_s`, `at_s` or `when.at_s`; they last until `to_s`, or for a length. */
type Times = { start: "from_s" | "at_s" | "when" | null; end: "to_s" | Length | null };

function timesOf(kind: Kind | undefined, fault: Tagged): Times {
  const names = new Set([...propertyNames(kind?.schema), ...Object.keys(fault)]);
  return {
    start: (["from_s", "at_s", "when"] as const).find((name) => names.has(name)) ?? null,
    end: (["to_s", ...(Object.keys(LENGTHS) as Length[])] as const).find((name) => names.has(name)) ?? null,
  };
}

const finite = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const whenOf = (fault: Tagged) => (fault.when ?? {}) as { kind?: string; at_s?: number; mean_s?: number };

/** Whether it comes again and again, at times that the seed says. */
export const isRandom = (fault: Tagged) => whenOf(fault).kind === "random";

/** When a fault is; null if it comes at random or its time is not given yet. A fault without a length begins and stays at a moment. */
export function spanOf(kind: Kind | undefined, fault: Tagged): Span | null {
  const { start, end } = timesOf(kind, fault);
  const start_s = start === "when" ? (isRandom(fault) ? undefined : whenOf(fault).at_s) : start && fault[start];
  if (!finite(start_s)) return null;
  if (end === "to_s") return { start_s, end_s: finite(fault.to_s) ? fault.to_s : null };
  const length = end && fault[end];
  if (end && finite(length)) return { start_s, end_s: exact(start_s + length * LENGTHS[end]) };
  return { start_s, end_s: end && !isRequired(kind, end) ? null : start_s };
}

export const canStretch = (kind: Kind | undefined, fault: Tagged) => timesOf(kind, fault).end !== null;

/** The same fault at another time; what does not change is not written. */
export function withSpan(kind: Kind | undefined, fault: Tagged, span: Span): Tagged {
  const { start, end } = timesOf(kind, fault);
  const before = spanOf(kind, fault);
  const next = { ...fault };
  if (start === "when") next.when = { ...(fault.when as { [field: string]: Json }), at_s: span.start_s };
  else if (start) next[start] = span.start_s;
  if (span.end_s === null) return next;
  const length_s = exact(span.end_s - span.start_s);
  const kept = before?.end_s != null && exact(before.end_s - before.start_s) === length_s;
  if (end === "to_s") next.to_s = span.end_s;
  else if (end && !kept) next[end] = exact(length_s / LENGTHS[end]);
  return next;
}

const isRequired = (kind: Kind | undefined, name: string) => Array.isArray(kind?.schema.required) && kind.schema.required.includes(name);

/** Decimal numbers as people write them, without what binary fractions add. */
const exact = (value: number) => Number(value.toFixed(6));

/** The grid that bars move on: about a three-hundredth of the horizon, as 1, 2 or 5 times a power of ten. */
export function gridOf(horizon_s: number): number {
  const raw = horizon_s / 300;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  return exact(([5, 2, 1].find((factor) => factor * magnitude <= raw * 1.001) ?? 1) * magnitude) || 1e-6;
}

export type Part = "whole" | "start" | "end";

/** A span after one of its parts was moved by a time: on the grid, inside the run, and never without length if it had one. */
export function moveSpan(span: Span, part: Part, by_s: number, horizon_s: number): Span {
  const grid = gridOf(horizon_s);
  const snap = (value: number) => exact(Math.round(value / grid) * grid);
  const within = (value: number, low: number, high: number) => Math.max(low, Math.min(value, high));
  if (part === "start") {
    const last = exact((span.end_s ?? horizon_s) - grid);
    return { start_s: within(snap(span.start_s + by_s), 0, last), end_s: span.end_s };
  }
  if (part === "end") {
    const end_s = within(snap((span.end_s ?? horizon_s) + by_s), exact(span.start_s + grid), Math.max(horizon_s, span.start_s + grid));
    return { start_s: span.start_s, end_s };
  }
  const start_s = within(snap(span.start_s + by_s), 0, exact(horizon_s - grid));
  return { start_s, end_s: span.end_s === null ? null : exact(start_s + span.end_s - span.start_s) };
}

/** What a new fault begins with, as far as its kind's schema does not say it: the first host, a tenth of the run at two fifths of it. */
export function newFault(kind: Kind, document: ExperimentDocument, given: { [field: string]: Json } = {}): Tagged {
  const horizon_s = horizonOf(document);
  const at_s = moveSpan({ start_s: 0, end_s: null }, "whole", horizon_s * 0.4, horizon_s).start_s;
  const length_s = moveSpan({ start_s: 0, end_s: 0 }, "end", horizon_s * 0.1, horizon_s).end_s ?? 1;
  const host = expandHosts(document)[0]?.name ?? "";
  const first: { [field: string]: Json } = {
    host,
    sources: [host],
    when: { kind: "at", at_s },
    from_s: at_s,
    at_s,
    to_s: exact(at_s + length_s),
    for_ms: exact(length_s * 1000),
    for_s: length_s,
    added_ms: 10,
  };
  const names = propertyNames(kind.schema);
  const own = (fields: { [field: string]: Json }) => Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
  return { ...own(first), ...initialValue(kind.schema), ...own({ when: first.when ?? null, ...given }), kind: kind.kind };
}

export const faultsOf = (document: ExperimentDocument): Tagged[] => (Array.isArray(document.faults) ? document.faults : []);

/** Whom it befalls, in a few words. */
export function whomOf(fault: Tagged): string {
  if (typeof fault.host === "string") return fault.host;
  const listed = (value: Json | undefined) => (Array.isArray(value) && value.length ? value.join(", ") : "");
  const from = listed(fault.sources);
  return from && `${from} ${fault.both_ways === false ? "→" : "↔"} ${listed(fault.targets) || "all others"}`;
}

/** A fault, as the run's charts, hosts and events show it. */
export interface FaultMark {
  start_s: number;
  end_s: number;
  /** Of a fault without an end. */
  forEver: boolean;
  text: string;
  host: string | null;
}

/** The faults at known times, by their beginning. end_s: of the run. */
export function faultMarks(document: ExperimentDocument, kinds: Kind[], end_s: number): FaultMark[] {
  const marks = faultsOf(document).flatMap((fault): FaultMark[] => {
    const kind = kinds.find((one) => one.kind === fault.kind);
    const span = spanOf(kind, fault);
    if (!span || span.start_s >= end_s) return [];
    return [
      {
        start_s: span.start_s,
        end_s: Math.min(span.end_s ?? end_s, end_s),
        forEver: span.end_s === null,
        text: `${kind?.title ?? fault.kind}${whomOf(fault) ? ` ${whomOf(fault)}` : ""}`,
        host: typeof fault.host === "string" ? fault.host : null,
      },
    ];
  });
  return marks.sort((a, b) => a.start_s - b.start_s);
}

/** Hosts that died of what they held, until they are started again. */
export const deathMarks = (deaths: Death[], end_s: number): FaultMark[] =>
  deaths.map(({ host, at_s, restart_at_s }) => ({
    start_s: at_s,
    end_s: Math.min(restart_at_s ?? end_s, end_s),
    forEver: restart_at_s === null,
    text: `${host} died`,
    host,
  }));

/**
 * Labels of marks in lines below one another, so that none covers another: the line of each, -1 where there is no room.
 * widths: of the labels; left: where the labels begin; both in shares of the axis.
 */
export function labelLines(lefts: number[], widths: number[], lines: number): number[] {
  const taken = Array.from({ length: lines }, () => -Infinity);
  return lefts.map((left, at) => {
    const line = taken.findIndex((until) => until <= left);
    if (line >= 0) taken[line] = left + (widths[at] ?? 0);
    return line;
  });
}

export function replaceFault(document: ExperimentDocument, index: number, fault: Tagged): ExperimentDocument {
  return { ...document, faults: faultsOf(document).map((old, at) => (at === index ? fault : old)) };
}

export function addFault(document: ExperimentDocument, fault: Tagged, at = faultsOf(document).length): ExperimentDocument {
  return { ...document, faults: faultsOf(document).toSpliced(at, 0, fault) };
}

/** A document without faults does not mention them. */
export function removeFault(document: ExperimentDocument, index: number): ExperimentDocument {
  const faults = faultsOf(document).toSpliced(index, 1);
  const { faults: _before, ...without } = document;
  return faults.length ? { ...document, faults } : without;
}
