import { describe, expect, it } from "vitest";
import { addJobs, jobBars, jobMeans, type Job } from "./jobs";

const JOBS: Job[] = [
  { due_s: 4, start_s: 4, ends_s: [7, 8.5], records: 100 },
  { due_s: 8, start_s: 8.5, ends_s: [10], records: 120 },
  { due_s: 12, start_s: null, ends_s: [], records: 90 },
];

describe("jobs", () => {
  it("tells a job anew that goes on in another frame", () => {
    const jobs: Job[] = [];
    addJobs(jobs, [{ due_s: 4, start_s: 4, ends_s: [], records: 100 }]);
    addJobs(jobs, JOBS.slice(0, 2));
    expect(jobs).toEqual(JOBS.slice(0, 2));
  });

  it("draws stages one behind the other, up to the head, and how long a job waits", () => {
    const bars = jobBars(JOBS, 2, { from_s: 0, to_s: 20 }, 200, 13).map(({ x, width, stage, job }) => [job.due_s, stage, x, width]);
    expect(bars).toEqual([
      [4, 0, 40, 30],
      [4, 1, 70, 15],
      [8, -1, 80, 5],
      [8, 0, 85, 15],
      [8, 1, 100, 30],
      [12, -1, 120, 10],
    ]);
  });

  it("leaves out what lies beside the span", () => {
    expect(jobBars(JOBS, 2, { from_s: 8.6, to_s: 9 }, 40, 13).map(({ job, stage, x }) => [job.due_s, stage, x])).toEqual([[8, 0, 0]]);
  });

  it("takes the means of jobs that have ended", () => {
    expect(jobMeans(JOBS, 2, { from_s: 0, to_s: 20 })).toEqual({ took_s: 4.5, late_s: 0, count: 1 });
    expect(jobMeans(JOBS, 2, { from_s: 9, to_s: 20 })).toBeNull();
  });
});
