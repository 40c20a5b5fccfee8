import { jobBars, jobMeans, type Job } from "../../model/run/jobs";
import type { Span } from "../../model/run/series";
import { Strip, STRIP_WIDTH } from "./Strip";

const MEANS =
  "A job computes on the batch of records received before it. A stage begins when all tasks of the one before it have ended.";
const seconds = (value: number) => `${value < 10 ? value.toFixed(2) : value.toFixed(1)} s`;
const count = (value: number) => Math.round(value).toLocaleString("en-US");

/** The jobs of an engine that works in batches: below, their stages one behind the other; above, how long they wait for one another. */
export function Jobs(props: { jobs: readonly Job[]; stages: number; limit_per_s: number | null; span: Span; head_s: number }) {
  const { jobs, stages, limit_per_s, span, head_s } = props;
  const means = jobMeans(jobs, stages, { from_s: span.from_s, to_s: Math.min(span.to_s, Math.max(head_s, span.from_s)) });
  const waiting = jobs.filter((job) => job.start_s === null).length;
  const parts = [
    means ? `Jobs take ${seconds(means.took_s)} and begin ${seconds(means.late_s)} late on average` : "No job has ended in the time shown",
    waiting ? `${waiting} ${waiting === 1 ? "waits" : "wait"}` : "none waits",
    limit_per_s === null ? "sources are not limited" : `sources are limited to ${count(limit_per_s)} records/s`,
  ];
  return (
    <Strip id="jobs" words={parts.join("; ")} means={MEANS} height={14}>
      {jobBars(jobs, stages, span, STRIP_WIDTH, head_s).map(({ job, stage, x, width }) => (
        <rect
          key={`${job.due_s} ${stage}`}
          className={stage < 0 ? "waits" : stage % 2 ? "odd" : ""}
          x={x}
          width={width}
          y={stage < 0 ? 0 : 4}
          height={stage < 0 ? 3 : 10}
        >
          <title>{`Batch of ${seconds(job.due_s)}, ${count(job.records)} records: ${stage < 0 ? "waits" : `stage ${stage + 1} of ${stages}`}`}</title>
        </rect>
      ))}
    </Strip>
  );
}
