import type { ReactNode } from "react";
import { Link } from "react-router";
import { isActive } from "../../api/queries";
import type { Run } from "../../api/types";
import { duration, latency, short, took_s, when } from "../../lib/format";
import { outcomeText, verdictsText } from "../../model/document/assertions";
import { fieldLabel, namesIn } from "../../model/run/runFields";
import { Sparkline } from "../../ui/Sparkline";
import { StateBadge } from "../../ui/states";
import { Track } from "../../ui/Track";
import { VerdictBadge } from "../../ui/VerdictBadge";

export interface Column {
  /** In the address. */
  id: string;
  label: string;
  /** Only there if it is asked for. */
  further?: boolean;
  /** There without being asked for where the window is wide. */
  wide?: boolean;
  /** Name of the order that the API knows; without one the column cannot be sorted by. */
  sort?: string;
  number?: boolean;
  /** Name of the metric in the summary: the cell also says how it differs from the baseline's. */
  metric?: string;
  cell: (run: Run) => ReactNode;
  /** Of a column that the list has to ask for: the field. */
  field?: string;
}

const NONE = <span className="mut">–</span>;
const measured = (run: Run) => (run.summary?.latency_ms ?? {}) as Partial<Record<"p50" | "p95" | "p99" | "mean" | "max", number | null>>;
const ms = (value: number | null | undefined) => (value === null || value === undefined ? NONE : latency(value).join(" "));
const counted = (value: unknown) => (typeof value === "number" ? short(value) : NONE);

function sparklineText(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)].map((value) => latency(value).join(" "));
  return `p99 latency over virtual time, ${low} to ${high}, logarithmic`;
}

export const RUN_COLUMNS: Column[] = [
  {
    id: "run",
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
    id: "state",
    label: "State",
    sort: "state",
    cell: (run) => (
      <span title={run.error ?? ""}>
        <StateBadge state={run.state} />{" "}
        {run.judged && (
          <Link className="plain-link" to={`/runs/${run.id}?panel=assertions`} title={`Assertions: ${verdictsText(run.verdicts)}`}>
            <VerdictBadge state={run.judged} text={outcomeText(run.verdicts)} />
          </Link>
        )}
      </span>
    ),
  },
  {
    id: "experiment",
    label: "Experiment",
    sort: "experiment",
    cell: (run) => (
      <Link className="plain-link" to={`/experiments/${run.experiment.id}`} title={run.experiment.name}>
        {run.experiment.name}
      </Link>
    ),
  },
  {
    id: "time",
    label: "Virtual time",
    cell: (run) =>
      isActive(run) ? (
        <span className="progress">
          <Track share={run.progress ?? 0} />
          {run.t_s === null ? "waiting" : `${short(run.t_s)} of ${short(run.horizon_s ?? 0)} s`}
        </span>
      ) : (
        <span className="mut">{run.t_s === null || run.t_s === undefined ? "–" : `${short(run.t_s)} s`}</span>
      ),
  },
  { id: "seed", label: "Seed", sort: "seed", number: true, cell: (run) => run.seed },
  { id: "p50", metric: "latency_ms.p50", label: "p50", sort: "p50", number: true, cell: (run) => ms(measured(run).p50) },
  { id: "p99", metric: "latency_ms.p99", label: "p99", sort: "p99", number: true, cell: (run) => ms(measured(run).p99) },
  {
    id: "latency",
    label: "p99 over time",
    cell: (run) => (run.sparkline?.length ? <Sparkline values={run.sparkline} label={sparklineText(run.sparkline)} /> : NONE),
  },
  {
    id: "out",
    metric: "throughput_out_per_s",
    label: "Out, rec/s",
    sort: "out",
    number: true,
    cell: (run) => counted(run.summary?.throughput_out_per_s),
  },
  { id: "created", label: "Created", sort: "number", cell: (run) => <span className="mut">{when(run.created_at)}</span> },
  {
    id: "took",
    label: "Took",
    sort: "took",
    number: true,
    cell: (run) => {
      const seconds = took_s(run);
      return seconds === null ? NONE : duration(seconds);
    },
  },
  { id: "p95", metric: "latency_ms.p95", label: "p95", further: true, wide: true, number: true, cell: (run) => ms(measured(run).p95) },
  { id: "mean", metric: "latency_ms.mean", label: "Mean", further: true, number: true, cell: (run) => ms(measured(run).mean) },
  { id: "max", metric: "latency_ms.max", label: "Max", further: true, wide: true, number: true, cell: (run) => ms(measured(run).max) },
  { id: "in", metric: "throughput_in_per_s", label: "In, rec/s", further: true, number: true, cell: (run) => counted(run.summary?.throughput_in_per_s) },
  { id: "records", metric: "records_out", label: "Records out", further: true, wide: true, number: true, cell: (run) => counted(run.summary?.records_out) },
  { id: "late", metric: "late", label: "Late", further: true, number: true, cell: (run) => counted(run.summary?.late) },
  { id: "backlog", metric: "backlog", label: "Backlog", further: true, number: true, cell: (run) => counted(run.summary?.backlog) },
  { id: "author", label: "Author", further: true, wide: true, cell: (run) => run.author || NONE },
  { id: "engine", label: "Engine", further: true, cell: (run) => run.engine_version || NONE },
  {
    id: "digest",
    label: "Digest",
    further: true,
    cell: (run) => (run.digest ? <span className="mono" title={run.digest}>{run.digest.slice(0, 8)}</span> : NONE),
  },
  {
    id: "notes",
    label: "Notes",
    further: true,
    cell: (run) => (
      <Link className="plain-link said" to={`/runs/${run.id}?panel=notes`} title={run.said}>
        {run.said}
      </Link>
    ),
  },
  { id: "tags", label: "Tags", cell: () => null },
];

/** The columns of a list that nobody has chosen. */
const usual = (isWide: boolean) => RUN_COLUMNS.filter(({ further, wide }) => !further || (wide && isWide));

/** Columns in an address: known ones in their order, then fields of the runs by name; the usual ones where it names none. */
export function columnsNamed(text: string, isWide: boolean): Column[] {
  const named = namesIn(text);
  const known = RUN_COLUMNS.filter(({ id }) => named.includes(id));
  const fields = named.filter((name) => !RUN_COLUMNS.some(({ id }) => id === name));
  return named.length ? [...known, ...fields.map(ofField)] : usual(isWide);
}

/** A column of a metric or a parameter; its values come with the list. */
export const ofField = (name: string): Column => ({ id: name, field: name, label: fieldLabel(name), cell: () => NONE });

/** What the address says of columns: nothing of the usual ones. */
export function namesOf(columns: readonly Column[], isWide: boolean): string {
  const own = usual(isWide);
  const isUsual = columns.length === own.length && columns.every((column) => own.includes(column));
  return isUsual ? "" : columns.map(({ id }) => id).join(",");
}
