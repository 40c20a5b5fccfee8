import type { ReactNode } from "react";
import { Link } from "react-router";
import { isActive } from "../api/queries";
import type { Run } from "../api/types";
import { duration, latency, short, when } from "../ui/format";
import { StateBadge } from "../ui/states";

export interface Column {
  label: string;
  /** Name of the order that the API knows; without one the column cannot be sorted by. */
  sort?: string;
  number?: boolean;
  cell: (run: Run) => ReactNode;
}

const NONE = <span className="mut">–</span>;
const measured = (run: Run) => (run.summary?.latency_ms ?? {}) as { p50?: number | null; p99?: number | null };
const ms = (value: number | null | undefined) => (value === null || value === undefined ? NONE : latency(value).join(" "));

export const tookOf = (run: Run) =>
  run.started_at && run.finished_at ? (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000 : null;

export const RUN_COLUMNS: Column[] = [
  {
    label: "Run",
    sort: "number",
    number: true,
    cell: (run) => (
      <Link to={`/runs/${run.id}`}>
        <b>{run.number}</b>
      </Link>
    ),
  },
  {
    label: "State",
    sort: "state",
    cell: (run) => (
      <span title={run.error ?? ""}>
        <StateBadge state={run.state} />
      </span>
    ),
  },
  {
    label: "Experiment",
    sort: "experiment",
    cell: (run) => (
      <Link className="plain-link" to={`/experiments/${run.experiment.id}`} title={run.experiment.name}>
        {run.experiment.name}
      </Link>
    ),
  },
  {
    label: "Virtual time",
    cell: (run) =>
      isActive(run) ? (
        <span className="progress">
          <span className="track">
            <i style={{ width: `${Math.round((run.progress ?? 0) * 100)}%` }} />
          </span>
          {run.t_s === null ? "waiting" : `${short(run.t_s)} of ${short(run.horizon_s ?? 0)} s`}
        </span>
      ) : (
        <span className="mut">{run.t_s === null || run.t_s === undefined ? "–" : `${short(run.t_s)} s`}</span>
      ),
  },
  { label: "Seed", sort: "seed", number: true, cell: (run) => run.seed },
  { label: "p50", sort: "p50", number: true, cell: (run) => ms(measured(run).p50) },
  { label: "p99", sort: "p99", number: true, cell: (run) => ms(measured(run).p99) },
  {
    label: "Out, rec/s",
    sort: "out",
    number: true,
    cell: (run) => (typeof run.summary?.throughput_out_per_s === "number" ? short(run.summary.throughput_out_per_s) : NONE),
  },
  { label: "Created", sort: "number", cell: (run) => <span className="mut">{when(run.created_at)}</span> },
  {
    label: "Took",
    sort: "took",
    number: true,
    cell: (run) => {
      const seconds = tookOf(run);
      return seconds === null ? NONE : duration(seconds);
    },
  },
];
