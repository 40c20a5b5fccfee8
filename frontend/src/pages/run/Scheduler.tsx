import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ExperimentDocument } from "../../api/document";
import { registryQuery } from "../../api/queries";
import { bytes, latency, percent, plural, short } from "../../lib/format";
import {
  coresByFrame,
  dueOf,
  hitsOf,
  hostsAt,
  memoryByFrame,
  policyAt,
  reason,
  stateOf,
  valueOf,
  valuesOf,
  watermarksOf,
  whyNoCycle,
  type CoresByFrame,
  type Due,
  type MemoryByFrame,
  type ScheduledHost,
  type ScheduledRow,
  type WatermarkRow,
} from "../../model/run/scheduling";
import { Icon } from "../../ui/Icon";
import { Empty } from "../../ui/states";
import { momentOf, useLiveRun } from "./liveRun";

/** As many frames as the strips show. */
const FRAMES = 60;

/** As many watermarks of each source as are compared with their predictions. */
const WATERMARKS = 60;

/** Who runs on each host at the moment held, in which order, and why; who ran in the frames before, and how predictions fared. */
export function Scheduler({ document }: { document: ExperimentDocument }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const { data: registry = {} } = useQuery(registryQuery);
  const [chosen, setChosen] = useState("");
  const n = moment_s === null ? count - 1 : Math.min(log.numberAt(moment_s), count - 1);
  const hosts = hostsAt(log, n);
  const host = hosts.find(({ name }) => name === chosen) ?? hosts[0];
  const frame = log.frame(n);
  if (!host) return <Empty icon="clock" title={frame ? whyNoCycle(document, registry, frame.t_s) : "No frames yet"} />;
  const told = frame?.scheduling;
  const memory = memoryByFrame(log, document, host, n, FRAMES);
  return (
    <div className="scheduler scroll" tabIndex={0} role="region" aria-label="Scheduler" data-testid="scheduler">
      <p className="about">
        <b>{policyAt(document, registry, host.t_s)}</b>
        {hosts.length > 1 && (
          <select className="in" aria-label="Host" value={host.name} onChange={(event) => setChosen(event.target.value)}>
            {hosts.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <span>cycle at {host.t_s.toFixed(2)} s</span>
        {told && <span title="The scheduler's share of the CPU time of its hosts">overhead {(100 * told.overhead).toFixed(2)} %</span>}
        {told && typeof told.hit_rate === "number" && (
          <span title="Watermarks that came within the interval that was predicted at the start of their epoch, and its mean width">
            {percent(told.hit_rate)} of watermarks within {latency(told.width_ms ?? 0).join(" ")}
          </span>
        )}
        {told && told.messages > 0 && (
          <span title="What the schedulers of all hosts have told one another">
            {plural(told.messages, "message", "messages")}, {bytes(told.message_bytes)}
          </span>
        )}
        {host.frees_memory && (
          <span className="warn">
            <Icon name="warn" small /> frees memory first; sources pause
          </span>
        )}
      </p>
      <Order host={host} />
      {hosts.length > 1 && <Hosts hosts={hosts} shown={host.name} onChoose={setChosen} />}
      <Cores rows={coresByFrame(log, host.name, n, FRAMES)} />
      {memory && <Memory {...memory} />}
      <Watermarks rows={watermarksOf(log, host.name, n, WATERMARKS)} />
    </div>
  );
}

/** What belongs to a value, and has no column of its own. */
function besideOf(name: string, { why: { sigma_ms, elsewhere_ms } }: ScheduledRow): string | undefined {
  if (name === "expected_ms" && sigma_ms !== undefined) return `± ${latency(2 * sigma_ms).join(" ")}`;
  if (name === "cost_ms" && elsewhere_ms !== undefined) return `${latency(elsewhere_ms).join(" ")} of it downstream on other hosts, as this one has heard`;
  return undefined;
}

function Order({ host }: { host: ScheduledHost }) {
  const [asked, setAsked] = useState("");
  const row = host.rows.find(({ query }) => query === asked) ?? host.rows.find((one) => stateOf(one) === "Passed over") ?? host.rows[0];
  const values = valuesOf(host.rows);
  const due = dueOf(host.rows);
  const written = (name: string, value: number | undefined) => {
    if (value === undefined) return "–";
    const sign = value < 0 ? "−" : "";
    return valueOf(name).unit === "ms" ? sign + latency(Math.abs(value)).join(" ") : short(value);
  };
  return (
    <>
    <p className="why-not plain" role="status" data-testid="why-waited">
      <Icon name="info" small />
      <span>{row && reason(row, host.rows)}</span>
    </p>
    <table className="table" data-testid="scheduled-queries">
      <thead>
        <tr>
          <th className="num">#</th>
          <th>Query</th>
          <th title="Who is started in this cycle; cores that fall idle go to the next ones">Now</th>
          <th className="num" title="Cores that served it in this frame, in the mean">
            Cores
          </th>
          <th className="num" title="Items in the queues of its operators on this host, sources left out">
            Waiting
          </th>
          {values.map((name) => (
            <th key={name} className="num" title={valueOf(name).means}>
              {valueOf(name).label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {host.rows.map((row, k) => (
          <tr key={row.query} className={row.runs ? "runs" : ""} data-testid={`scheduled-${row.query}`}>
            <td className="num">{row.rank}</td>
            <td>
              <button className="sort" aria-pressed={row.query === asked} title={`Why ${row.query} runs or waits`} onClick={() => setAsked(row.query)}>
                {row.query}
              </button>
            </td>
            <td>{stateOf(row)}</td>
            <td className="num">{row.cores === null ? "–" : row.cores.toFixed(1)}</td>
            <td className="num">{short(row.waiting)}</td>
            {values.map((name) => (
              <td
                key={name}
                className={`num ${(row.why[name] ?? 0) < 0 ? "overdue" : ""}`}
                title={besideOf(name, row)}
              >
                {written(name, row.why[name])}
                {name === "expected_ms" && <DueBar due={due[k] ?? null} />}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    </>
  );
}

/** The interval in which a watermark is expected; the left end is now. */
function DueBar({ due }: { due: Due | null }) {
  return (
    <svg className="due" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden>
      {due && <rect className={due.overdue ? "late" : ""} x={100 * due.from} width={Math.max(1.5, 100 * (due.to - due.from))} height={1} />}
    </svg>
  );
}

/** All hosts at this moment, and what each has heard of others. */
function Hosts({ hosts, shown, onChoose }: { hosts: ScheduledHost[]; shown: string; onChoose: (name: string) => void }) {
  return (
    <table className="table" data-testid="scheduled-hosts">
      <thead>
        <tr>
          <th>Host</th>
          <th className="num">Queries running</th>
          <th className="num">Waiting</th>
          <th title="Hosts whose schedulers have told this one of their sources or costs, and how old that was in this cycle">Heard from</th>
        </tr>
      </thead>
      <tbody>
        {hosts.map(({ name, rows, heard }) => (
          <tr key={name} className={name === shown ? "runs" : ""}>
            <td>
              <button className="sort" aria-pressed={name === shown} title={`Show the order on ${name}`} onClick={() => onChoose(name)}>
                {name}
              </button>
            </td>
            <td className="num">{rows.filter(({ runs }) => runs).length}</td>
            <td className="num">{short(rows.reduce((sum, { waiting }) => sum + waiting, 0))}</td>
            <td>{heard.map(({ from, age_ms }) => `${from}, ${latency(age_ms).join(" ")} ago`).join("; ") || "nobody"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** One strip for each query, a cell for each frame: the darker, the more cores served it. */
function Cores({ rows }: { rows: CoresByFrame[] }) {
  const frames = rows[0]?.cores.length ?? 0;
  const known = rows.flatMap(({ cores }) => cores.filter((one) => one !== null));
  if (!known.length) return null;
  const most = Math.max(...known);
  const mean = ({ cores }: CoresByFrame) => cores.reduce<number>((sum, one) => sum + (one ?? 0), 0) / frames;
  return (
    <figure className="strips" data-testid="strips">
      <figcaption>
        Cores that served each query, in the last {plural(frames, "frame", "frames")}
        <span className="scale" aria-hidden>
          0 <i /> {most.toFixed(1)}
        </span>
      </figcaption>
      {rows.map((row) => (
        <div key={row.query} title={`${row.query}: ${mean(row).toFixed(2)} cores in the mean, at most ${Math.max(...row.cores.map((one) => one ?? 0)).toFixed(1)}`}>
          <span className="ell">{row.query}</span>
          <svg viewBox={`0 0 ${FRAMES} 1`} preserveAspectRatio="none" aria-hidden>
            {row.cores.map((cores, k) => !!cores && <rect key={k} x={FRAMES - frames + k} width={1} height={1} opacity={cores / most} />)}
          </svg>
          <span className="num">{mean(row).toFixed(1)}</span>
        </div>
      ))}
    </figure>
  );
}

/** The memory of the host, with the threshold, and where memory was freed first. */
function Memory({ used, freeing, threshold }: MemoryByFrame) {
  const last = used.at(-1);
  const at = (k: number) => FRAMES - used.length + k;
  const points = used.flatMap((share, k) => (share === null ? [] : [`${at(k) + 0.5},${100 - 100 * Math.min(share, 1)}`]));
  return (
    <figure className="strips memory" data-testid="scheduled-memory">
      <figcaption>
        Memory of the host
        <span>
          {typeof last === "number" && `${percent(last)} of the budget`}
          {threshold !== null && `; freed first from ${percent(threshold)}`}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${FRAMES} 100`} preserveAspectRatio="none" aria-hidden>
        {freeing.map((share, k) => !!share && <rect key={k} x={at(k)} width={1} height={100} opacity={0.15 + 0.35 * Math.min(share, 1)} />)}
        {threshold !== null && <line x1={0} x2={FRAMES} y1={100 - 100 * threshold} y2={100 - 100 * threshold} />}
        <polyline points={points.join(" ")} />
      </svg>
    </figure>
  );
}

/** What each source's watermarks are predicted from, and how the last ones came in their predicted intervals. */
function Watermarks({ rows }: { rows: WatermarkRow[] }) {
  if (!rows.some(({ epochs }) => epochs)) return null;
  const predicted = rows.some(({ width_ms }) => width_ms !== null);
  const ms = (value: number | null) => (value === null ? "–" : latency(value).join(" "));
  return (
    <table className="table" data-testid="scheduled-watermarks">
      <thead>
        <tr>
          <th title="Watermarks of its sources on this host">Query</th>
          <th className="num" title="Each ends with a watermark that closes a window">
            Epochs
          </th>
          <th className="num" title="Mean time between two watermarks that close a window">
            Period
          </th>
          <th className="num" title="Of records and watermarks on their way to the source: mean and standard deviation over the kept epochs">
            Delay
          </th>
          {predicted && (
            <>
              <th className="num" title="Width of the last interval in which a watermark was expected, predicted when its epoch began">
                Interval
              </th>
              <th title={`Each mark is one of the last ${WATERMARKS} watermarks; the band is the interval in which it was expected`}>Watermarks</th>
              <th className="num" title="Of these, how many came within their intervals">
                Within
              </th>
            </>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.query + row.input}>
            <td>{row.input ? `${row.query}, ${row.input}` : row.query}</td>
            <td className="num">{row.epochs}</td>
            <td className="num">{ms(row.period_ms)}</td>
            <td className="num">{row.delay_ms === null ? "–" : spread(row.delay_ms, row.delay_sd_ms ?? 0)}</td>
            {predicted && (
              <>
                <td className="num">{ms(row.width_ms)}</td>
                <td>
                  <Arrivals of={row} />
                </td>
                <td className="num">{row.arrivals.length ? `${hitsOf(row)} of ${row.arrivals.length}` : "–"}</td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function spread(mean_ms: number, sd_ms: number): string {
  const [[mean, unit], [sd, other]] = [latency(mean_ms), latency(sd_ms)];
  return unit === other ? `${mean} ± ${sd} ${unit}` : `${mean} ${unit} ± ${sd} ${other}`;
}

/** Watermarks in the interval predicted for each; what came far outside stands at the edge. */
function Arrivals({ of: { arrivals } }: { of: WatermarkRow }) {
  return (
    <svg className="arrivals" viewBox="-2 0 4 1" preserveAspectRatio="none" aria-hidden>
      <rect className="band" x={-1} width={2} height={1} />
      {arrivals.map((at, k) => (
        <rect key={k} className={Math.abs(at) <= 1 ? "" : "missed"} x={Math.max(-1.98, Math.min(1.95, at - 0.015))} width={0.03} height={1} />
      ))}
    </svg>
  );
}
