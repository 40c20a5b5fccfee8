/** Jobs of an engine that works in batches: when each was due, began, and ended its stages. */
import type { Span } from "./span";

export interface Job {
  due_s: number;
  /** Null: it waits for the job before it. */
  start_s: number | null;
  ends_s: number[];
  /** Received in its batch. */
  records: number;
}

/** A stretch of a job in a picture. stage: counted from 0; -1: it waits to begin. */
export interface JobBar {
  x: number;
  width: number;
  stage: number;
  job: Job;
}

const LEAST_PX = 1;

/** Takes in the jobs that a frame tells of. One that was known is told anew. */
export function addJobs(jobs: Job[], told: readonly Job[]): void {
  for (const job of told) {
    const at = jobs.findIndex(({ due_s }) => due_s === job.due_s);
    if (at < 0) jobs.push(job);
    else jobs[at] = job;
  }
}

/** The stages of the jobs that lie in a span, and before them how long each waited. stages: of a job. */
export function jobBars(jobs: readonly Job[], stages: number, span: Span, width_px: number, head_s: number): JobBar[] {
  const scale = width_px / (span.to_s - span.from_s);
  const bars: JobBar[] = [];
  const add = (job: Job, stage: number, from_s: number, to_s: number) => {
    if (to_s <= from_s || to_s < span.from_s || from_s > span.to_s) return;
    const x = (Math.max(from_s, span.from_s) - span.from_s) * scale;
    bars.push({ job, stage, x, width: Math.max(LEAST_PX, (Math.min(to_s, span.to_s) - span.from_s) * scale - x) });
  };
  for (const job of jobs) {
    add(job, -1, job.due_s, job.start_s ?? head_s);
    if (job.start_s === null) continue;
    [job.start_s, ...job.ends_s].slice(0, stages).forEach((from_s, stage) => add(job, stage, from_s, job.ends_s[stage] ?? head_s));
  }
  return bars;
}

/** What the jobs of a span took and how late they began, on average in s, over those that have ended. Null: none has. */
export function jobMeans(jobs: readonly Job[], stages: number, span: Span): { took_s: number; late_s: number; count: number } | null {
  let [took_s, late_s, count] = [0, 0, 0];
  for (const { due_s, start_s, ends_s } of jobs) {
    const end_s = ends_s[stages - 1];
    if (start_s === null || end_s === undefined || end_s < span.from_s || start_s > span.to_s) continue;
    [took_s, late_s, count] = [took_s + end_s - start_s, late_s + start_s - due_s, count + 1];
  }
  return count ? { took_s: took_s / count, late_s: late_s / count, count } : null;
}
