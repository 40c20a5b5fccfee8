import { useQuery } from "@tanstack/react-query";
import { registryQuery } from "../../api/queries";
import type { Json, Run } from "../../api/types";
import { bytes, duration, latency, percent, short } from "../../lib/format";
import { latenciesOf, latencyTitle } from "../../model/document/latencies";
import { relocates } from "../../model/run/scaling";

type Fields = { [key: string]: Json };

/** Counts of an operator that are shown where one has some. */
const GONE = [
  { count: "lost", label: "Lost", title: "Lost with hosts: records sent to the operator but never processed, and unsent ones" },
  { count: "unsent", label: "Unsent", title: "Among the lost: records it had read or produced but could not send or deliver" },
  { count: "shed", label: "Shed", title: "Discarded by sources on hosts with full memory" },
];

const PERCENTILES = ["p50", "p95", "p99", "mean", "max"];
/** What did not go as it should; shown where it happened. */
const LOSSES: [field: string, label: string][] = [
  ["dropped", "Dropped by logs"],
  ["lost", "Lost with hosts"],
  ["shed", "Shed at ingress"],
  ["errors", "Errors"],
];

type Shown = (value: Json | undefined) => string;

/** What a checkpointing protocol did, after warm-up. */
function checkpointRows(summary: Fields, number: Shown, time: Shown): [string, string][] {
  const found = summary.checkpointing as Fields | undefined;
  if (!found) return [];
  const { rounds_confirmed, rounds_aborted, rounds_failed, ticks_skipped, checkpoints, stored_bytes } = found;
  return [
    ["Checkpoints", number(checkpoints)],
    ["Bytes stored", bytes(Number(stored_bytes))],
    ["Rounds confirmed", number(rounds_confirmed)],
    ["Rounds aborted, failed", `${number(rounds_aborted)}, ${number(rounds_failed)}`],
    ["Rounds skipped", number(ticks_skipped)],
    ["Checkpointing time", time(found.checkpointing_time_ms)],
    ["Time to durable", time(found.durable_time_ms)],
    ["Recoveries", number(found.recoveries)],
    ["Restart time", time(found.restart_time_ms)],
    ["Recovery-line search", time(found.search_time_ms)],
  ];
}

/** What the scaling did. moves: it changed hosts in place of parallelism. */
function scalingRows(summary: Fields, number: Shown, moves: boolean): [string, string][] {
  const found = summary.scaling as Fields | undefined;
  if (!found) return [];
  const seconds = (value: Json | undefined) => (typeof value === "number" ? latency(1000 * value).join(" ") : "–");
  const share = (value: Json | undefined) => (typeof value === "number" ? percent(value) : "–");
  const wait = (found.wait_s ?? {}) as Fields;
  const sampled = (found.sampled_wait_s ?? {}) as Fields;
  return [
    ["Instances, mean", number(found.workers_mean)],
    ["Instances, max", number(found.workers_max)],
    ["Instance hours", number(found.worker_hours)],
    ...(moves
      ? ([["Moves", number(found.actions)], ["Aborted", number(found.aborted)]] as [string, string][])
      : ([
          ["Rescales", number(found.actions)],
          ["Up, down, aborted", [found.up, found.down, found.aborted].map((count) => number(count)).join(", ")],
        ] as [string, string][])),
    ["Down", seconds(found.down_s)],
    ["Wait in topics, mean", seconds(wait.mean)],
    ["Wait in topics, p95", seconds(wait.p95)],
    ["Sampled wait, mean", seconds(sampled.mean)],
    ["Samples below objective", share(found.low_share)],
    ["Above objective", seconds(found.slo_violation_s)],
    ["Tracks load", number(found.follows)],
  ];
}

/** What the scheduler did. */
function schedulingRows(summary: Fields, number: Shown): [string, string][] {
  const found = summary.scheduling as Fields | undefined;
  if (!found) return [];
  const share = (value: Json | undefined) => (typeof value === "number" ? percent(value) : "–");
  const time = (value: Json | undefined, times = 1) => (typeof value === "number" ? latency(times * value).join(" ") : "–");
  return [
    ["Scheduling cycles", number(found.cycles)],
    ["Operators started or paused", number(found.switches)],
    ["Scheduling overhead", share(found.overhead)],
    ...(typeof found.hit_rate === "number"
      ? ([["Watermarks as predicted", `${share(found.hit_rate)}, within ${time(found.width_ms)}`]] as [string, string][])
      : []),
    ...(found.memory_mode_s ? ([["Freeing memory", time(found.memory_mode_s, 1000)]] as [string, string][]) : []),
  ];
}

const MEANING: { [label: string]: string } = {
  "Checkpointing time": "From the trigger of a round until the last instance is done: mean over confirmed rounds",
  "Time to durable": "From the capture of the state of an instance until it is durable: mean over checkpoints",
  "Restart time": "From the detection of a loss until all hosts are restored: mean over recoveries",
  "Recovery-line search": "Part of the restart time in which the coordinator searches for the recovery line: mean over recoveries",
  "Instance hours": "Active instances over virtual time",
  Down: "From the stop of the first source until the last one reads again: sum over the run",
  "Wait in topics, mean": "From the append of a record until its source reads it: over all records",
  "Wait in topics, p95":
    "Of the means over 15 s, weighted by the records read in each. The percentile over records may differ: see the table above if the run measures a latency from append to read",
  "Sampled wait, mean": "Sampled every 15 s; while the job is down, the age of the oldest waiting record",
  "Samples below objective": "Share of those samples below the objective: slo_s under Policies, Scaling; default 5 s",
  "Above objective": "Time during which the wait was above the objective",
  "Scheduling overhead": "The scheduler's share of the CPU time of its hosts",
  "Watermarks as predicted": "Watermarks that came within the interval predicted at the start of their epoch; its mean width",
  "Freeing memory": "Time in which the scheduler served first what frees the most memory",
  "Tracks load": "Highest correlation of instances with the load, at a lag of up to five minutes",
  "Engine time": "Wall-clock time in the loop of the engine, including compilation, excluding preparation of the run and storage of frames",
};

/** Latency and throughput by query, where the document names some. */
function QueriesSummary({ queries }: { queries: { [name: string]: Fields } }) {
  const all = Object.entries(queries);
  if (!all.length) return null;
  const time = (value: Json | undefined) => (typeof value === "number" ? latency(value).join(" ") : "–");
  const rate = (value: Json | undefined) => (typeof value === "number" ? short(value) : "–");
  const copied = all.some(([, query]) => query.copies);
  return (
    <table className="table" data-testid="queries-summary">
      <thead>
        <tr>
          <th>Query</th>
          <th className="num">Mean</th>
          <th className="num">p99</th>
          {copied && <th className="num" title="Mean latency of the fastest and of the slowest copy">Copies</th>}
          <th className="num">In /s</th>
          <th className="num">Out /s</th>
        </tr>
      </thead>
      <tbody>
        {all.map(([name, query]) => (
          <tr key={name}>
            <td>{name}</td>
            <td className="num">{time((query.latency_ms as Fields).mean)}</td>
            <td className="num">{time((query.latency_ms as Fields).p99)}</td>
            {copied && <td className="num">{query.copies ? `${time(query.fastest_copy_ms)} to ${time(query.slowest_copy_ms)}` : "–"}</td>}
            <td className="num">{rate(query.throughput_in_per_s)}</td>
            <td className="num">{rate(query.throughput_out_per_s)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Of a load in steps: whether, and how soon, the parallelism came to rest in each. */
function Phases({ phases, actions }: { phases: { [number: string]: Fields }; actions: string }) {
  const all = Object.entries(phases);
  if (!all.length) return null;
  const time = (value: Json | undefined) => (typeof value === "number" ? duration(value) : "–");
  const count = (value: Json | undefined) => (typeof value === "number" ? short(value) : "–");
  return (
    <table className="table" data-testid="phases">
      <thead>
        <tr>
          <th>Phase</th>
          <th className="num">From</th>
          <th className="num">To</th>
          <th className="num" title={`${actions} in this phase`}>
            {actions}
          </th>
          <th className="num" title="From the start of the phase until the parallelism sustains the load; –: never">
            Converged
          </th>
          <th className="num" title={`${actions} until convergence`}>
            Steps
          </th>
        </tr>
      </thead>
      <tbody>
        {all.map(([number, phase]) => (
          <tr key={number}>
            <td>{number}</td>
            <td className="num">{count(phase.from_s)} s</td>
            <td className="num">{count(phase.to_s)} s</td>
            <td className="num">{count(phase.actions)}</td>
            <td className="num">{time(phase.converged_s)}</td>
            <td className="num">{count(phase.steps)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** After the end: the run's own summary (after warm-up). */
export function SummaryTable({ run }: { run: Run }) {
  const { data: registry = {} } = useQuery(registryQuery);
  const summary: Fields = run.summary ?? {};
  const number = (value: Json | undefined, unit = "") => (typeof value === "number" ? `${short(value)}${unit}` : "–");
  const time = (value: Json | undefined) => (typeof value === "number" ? latency(value).join(" ") : "–");
  const deaths = Object.entries((summary.memory ?? {}) as { [host: string]: Fields }).filter(([, one]) => one.deaths);
  const further = Object.entries((summary.latencies_ms ?? {}) as { [name: string]: Fields });
  const latencies: [string, Fields][] = [["", (summary.latency_ms ?? {}) as Fields], ...further];
  const { measurement, policies } = (run.document ?? {}) as { measurement?: Fields; policies?: { [family: string]: Json } };
  const moves = relocates({ policies }, registry);
  const definitions = new Map(latenciesOf(measurement).map((one) => [one.name, one.definition]));
  const rows: [string, string][] = [
    ["Records in", number(summary.records_in)],
    ["Throughput in", number(summary.throughput_in_per_s, "/s")],
    ["Records out", number(summary.records_out)],
    ["Throughput out", number(summary.throughput_out_per_s, "/s")],
    ["Late", number(summary.late)],
    ["Backlog at the end", number(summary.backlog)],
    ...LOSSES.filter(([field]) => summary[field]).map(([field, label]): [string, string] => [label, number(summary[field])]),
    ...deaths.map(([host, { deaths }]): [string, string] => [`Deaths of ${host}`, number(deaths)]),
    ...checkpointRows(summary, number, time),
    ...scalingRows(summary, number, moves),
    ...schedulingRows(summary, number),
    ...(typeof summary.event_zero === "string" ? [["Event time 0", summary.event_zero] as [string, string]] : []),
    ["Record hops", number(summary.hops)],
    ["Engine time", number(summary.wall_s, " s")],
    ["Engine version", run.engine_version || "–"],
  ];
  const operators = Object.entries((summary.operators ?? {}) as { [id: string]: Fields });
  const gone = GONE.filter(({ count }) => operators.some(([, one]) => one[count]));
  return (
    <div className="summary scroll" tabIndex={0} role="region" aria-label="Summary" data-testid="summary">
      <table className="table">
        <thead>
          <tr>
            <th>{further.length ? "Latency" : ""}</th>
            {PERCENTILES.map((name) => (
              <th key={name} className="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {latencies.map(([name, one]) => (
            <tr key={name}>
              <td title={`${definitions.get(name) ?? name}: over all records after the warm-up`}>
                {name || further.length ? latencyTitle(name) : "Latency"}
                {further.length > 0 && <small className="mut">{definitions.get(name)}</small>}
              </td>
              {PERCENTILES.map((percentile) => (
                <td key={percentile} className="num">
                  {time(one[percentile])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <dl>
        {rows.map(([label, value]) => (
          <div key={label} title={MEANING[label]}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Phases actions={moves ? "Moves" : "Rescales"} phases={((summary.scaling as Fields | undefined)?.phases ?? {}) as { [number: string]: Fields }} />
      <QueriesSummary queries={(summary.queries ?? {}) as { [name: string]: Fields }} />
      {operators.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th>Operator</th>
              <th className="num">In</th>
              <th className="num">Out</th>
              <th className="num">Busy</th>
              <th className="num">Blocked</th>
              {gone.map(({ count, label, title }) => (
                <th key={count} className="num" title={title}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {operators.map(([id, one]) => (
              <tr key={id}>
                <td>{id}</td>
                <td className="num">{number(one.in)}</td>
                <td className="num">{number(one.out)}</td>
                <td className="num">{typeof one.busy === "number" ? percent(one.busy) : "–"}</td>
                <td className="num">{typeof one.blocked === "number" ? percent(one.blocked) : "–"}</td>
                {gone.map(({ count }) => (
                  <td key={count} className="num">
                    {number(one[count])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
