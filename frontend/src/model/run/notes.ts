/** Words on the charts of a run: warm-up, faults, and what is not simulated. */
import { labelLines, type FaultMark } from "../document/faults";
import { placesIn } from "./place";
import type { Span } from "./span";

/** Labels of faults: lines that they may take, and how wide a chart is at least and a letter on average, in px. */
const FAULT_LINES = 3;
const CHART_PX = 660;
const LETTER_PX = 6;
const LINE_PX = 18;

/** A word on a chart: at the bottom, or behind the lines, so that no peak is covered, at a height (`top`, px). */
export interface Note {
  text: string;
  left: string;
  top?: number;
  kind: string;
}

/** What is said over a stretch. `head_s`: so far the run has come. A fault for which no line is free is not named. */
export function notesOf(
  span: Span,
  { warmup_s, head_s, finished, faults }: { warmup_s: number; head_s: number; finished: boolean; faults: FaultMark[] },
): Note[] {
  const { place, share } = placesIn(span);
  const notes: Note[] = [];
  if (place(warmup_s) > 0.08)
    notes.push({ text: "warm-up", left: share((span.from_s + Math.min(warmup_s, span.to_s)) / 2), kind: "low" });
  if (place(head_s) < 0.8)
    notes.push({
      text: finished ? "not simulated" : "not simulated yet",
      left: share((Math.max(head_s, span.from_s) + span.to_s) / 2),
      kind: "low",
    });
  const lines = labelLines(
    faults.map((fault) => Math.max(0, place(fault.start_s))),
    faults.map((fault) => (fault.text.length * LETTER_PX + 16) / CHART_PX),
    FAULT_LINES,
  );
  for (const [at, fault] of faults.entries()) {
    const line = lines[at] ?? -1;
    if (line >= 0) notes.push({ text: fault.text, left: share(fault.start_s), top: 4 + LINE_PX * line, kind: "fault ell" });
  }
  return notes;
}
