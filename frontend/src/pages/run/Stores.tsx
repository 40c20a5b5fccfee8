import { useState } from "react";
import type { StateNews, StoreSample } from "../../api/types";
import { bytes, latency, percent, plural, short } from "../../lib/format";
import { outagesAt } from "../../model/run/outages";
import { readAfterACrash, storesAt, strip, type Cleaner, type Log } from "../../model/run/stores";
import { Empty } from "../../ui/states";
import { momentOf, useLiveRun } from "./liveRun";
import { Outages } from "./Outages";
import { ValueStrip } from "./ValueStrip";

/** As many frames as the strips show. */
const FRAMES = 240;

/** Local stores at the moment held: their changelogs, the broker's cleaners, and each store from its cache down to its disk. */
export function Stores() {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const n = moment_s === null ? count - 1 : Math.min(log.numberAt(moment_s), count - 1);
  const now = storesAt(log, n, bytes);
  if (!now) return <Empty icon="clock" title="No frame has come yet, so nothing is known of the stores" />;
  const { news } = now;
  return (
    <div className="stores scroll" tabIndex={0} role="region" aria-label="Stores" data-testid="stores">
      <p className="about">
        <b>{bytes(news.changelog_bytes)} of changelogs</b>
        <span title="Changes that left the caches in this frame">{plural(news.appended, "record", "records")} appended</span>
        <span title="Share of the broker's cores in use">broker {percent(news.broker_busy)}</span>
        <span title="Share of the cores in use on hosts with stores">workers {percent(news.worker_busy)}</span>
        <span title="Commits bring caches and buffers to disk">last commit {news.since_commit_s.toFixed(1)} s ago</span>
      </p>
      <Settings {...news.settings} dirty_ratio={news.limits.dirty_ratio} />
      <div className="courses">
        <ValueStrip title="Changelogs" unit={bytes} {...strip(log, "state", "changelog_bytes", n, FRAMES)} />
        <ValueStrip title="Written to disks, per frame" unit={bytes} {...strip(log, "state", "written_bytes", n, FRAMES)} />
      </div>
      {news.read_again !== undefined && (
        <Outages outages={outagesAt(log.outages, now.t_s)} stores>
          <span title="Since the last commit whose positions are durable">
            If hosts crashed now, sources would read {plural(news.read_again, "record")} again
          </span>
        </Outages>
      )}
      <Logs logs={now.logs} limit={news.limits.dirty_ratio} />
      <Cleaners cleaners={now.cleaners} />
      <Stacks stores={now.stores} limits={news.limits} />
    </div>
  );
}

/** Settings that may change while the query runs, as they are at this moment. */
function Settings({ commit_s, segment_ms, backoff_s, threads, tuning_step, dirty_ratio }: StateNews["settings"] & { dirty_ratio: number | null }) {
  const span = (ms: number) => (ms >= 86_400_000 ? plural(Math.round(ms / 86_400_000), "day") : latency(ms).join(" "));
  return (
    <p className="about" data-testid="store-settings">
      <span title="Time between two commits">commits every {span(1000 * commit_s)}</span>
      <span title="Time after which the next record closes a segment">segments of {span(segment_ms)}</span>
      {dirty_ratio !== null && <span title="A log is cleaned when more of its closed bytes are dirty">cleaned above {dirty_ratio}</span>}
      {threads !== null && backoff_s !== null && (
        <span title="A thread that finds no log due sleeps that long">
          {plural(threads, "cleaner")}, back-off {span(1000 * backoff_s)}
        </span>
      )}
      {tuning_step !== null && <span title="Of the agent that tunes compaction: higher steps compact more">tuning step {tuning_step}</span>}
    </p>
  );
}

/** Of each changelog its clean, dirty and active bytes, and its dirty ratio against the limit. */
function Logs({ logs, limit }: { logs: Log[]; limit: number | null }) {
  const most = Math.max(1, ...logs.map(({ clean_bytes, dirty_bytes, active_bytes }) => clean_bytes + dirty_bytes + active_bytes));
  const width = (value: number) => `${(100 * value) / most}%`;
  return (
    <table className="table" data-testid="changelogs">
      <thead>
        <tr>
          <th>Changelog</th>
          <th title="Clean segments, closed dirty ones, and the active one, which is never cleaned">
            <span className="key clean" aria-hidden /> clean <span className="key dirty" aria-hidden /> dirty <span className="key active" aria-hidden /> active
          </th>
          <th className="num">Bytes</th>
          <th title="Dirty bytes over closed ones; the line is the limit above which a cleaner takes the log">Dirty ratio</th>
          <th>Cleaned by</th>
        </tr>
      </thead>
      <tbody>
        {logs.map(({ name, clean_bytes, dirty_bytes, active_bytes, dirty_ratio, thread }) => (
          <tr key={name}>
            <td>{name}</td>
            <td>
              <span className="segments" title={`${bytes(clean_bytes)} clean, ${bytes(dirty_bytes)} dirty, ${bytes(active_bytes)} active`}>
                <i className="clean" style={{ width: width(clean_bytes) }} />
                <i className="dirty" style={{ width: width(dirty_bytes) }} />
                <i className="active" style={{ width: width(active_bytes) }} />
              </span>
            </td>
            <td className="num">{bytes(clean_bytes + dirty_bytes + active_bytes)}</td>
            <td>
              <span className="gauge" title={limit === null ? "Changelogs are not compacted" : `Cleaned above ${limit}`}>
                <i style={{ width: `${100 * dirty_ratio}%` }} />
                {limit !== null && <b style={{ left: `${100 * limit}%` }} />}
              </span>{" "}
              {dirty_ratio.toFixed(2)}
            </td>
            <td>{thread === null ? "–" : `thread ${thread}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cleaners({ cleaners }: { cleaners: Cleaner[] }) {
  if (!cleaners.length) return <p className="mut none">No cleaner looks at these logs, so they only grow.</p>;
  return (
    <ul className="cleaners" data-testid="cleaners" aria-label="Cleaners">
      {cleaners.map(({ number, does, asleep }) => (
        <li key={number} className={asleep ? "mut" : undefined}>
          Thread {number} {does}
        </li>
      ))}
    </ul>
  );
}

/** From the cache down: what is not written out, what is in memory, what is on disk, and what a crash would make it read. */
function Stacks({ stores, limits }: { stores: [string, StoreSample][]; limits: StateNews["limits"] }) {
  const [open, setOpen] = useState(false);
  const shown = open ? stores : stores.slice(0, 20);
  const onDisk = limits.buffer_bytes !== null;
  return (
    <table className="table" data-testid="store-stacks">
      <thead>
        <tr>
          <th>Store</th>
          <th className="num" title={`Changed entries in the cache; ${limits.dirty} of them leave together`}>
            Dirty
          </th>
          {onDisk && (
            <>
              <th className="num" title={`In memory, of ${bytes(limits.buffer_bytes ?? 0)}; full ones wait for the disk`}>
                Buffer
              </th>
              <th className="num" title="Bytes in sorted runs">
                On disk
              </th>
              <th className="num" title="Bytes written to disk over bytes put; buffers and runs that a read of one key may look at">
                Write / read ampl.
              </th>
            </>
          )}
          <th className="num" title="Records that have gone to its changelog">
            Logged
          </th>
          <th className="num" title="Records of its changelog that a restore would read if it crashed now: with its disk, and without">
            After a crash
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map(([name, store]) => (
          <tr key={name}>
            <td>{name}</td>
            <td className="num">{store.dirty}</td>
            {onDisk && (
              <>
                <td className="num" title={store.full_buffers ? plural(store.full_buffers, "full buffer", "full buffers") : undefined}>
                  {percent(store.buffer_bytes / Math.max(1, limits.buffer_bytes ?? 1))}
                  {store.full_buffers > 0 && ` +${store.full_buffers}`}
                </td>
                <td className="num">
                  {bytes(store.disk_bytes)}
                  {store.runs > 0 && ` in ${plural(store.runs, "run", "runs")}`}
                </td>
                <td className="num">
                  {store.write_amplification.toFixed(2)} / {store.read_amplification}
                </td>
              </>
            )}
            <td className="num">{short(store.end)}</td>
            <td className="num">{readAfterACrash(store)}</td>
          </tr>
        ))}
        {stores.length > shown.length && (
          <tr>
            <td colSpan={7}>
              <button className="btn ghost mini" onClick={() => setOpen(true)}>
                Show all {stores.length}
              </button>
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
