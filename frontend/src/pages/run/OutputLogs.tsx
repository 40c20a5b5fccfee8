import { bytes, percent, plural, short } from "../../lib/format";
import { outagesAt } from "../../model/run/outages";
import { oldestAge_s, outputLogsAt, type OutputLogsAt } from "../../model/run/outputLogs";
import { strip } from "../../model/run/stores";
import { Empty } from "../../ui/states";
import { momentOf, useLiveRun } from "./liveRun";
import { Outages } from "./Outages";
import { ValueStrip } from "./ValueStrip";

/** As many frames as the strips show. */
const FRAMES = 240;
const count = (value: number) => short(Math.round(value));

/** Output logs at the moment held: how much a recovery would read and process again, against its limits. */
export function OutputLogs() {
  const log = useLiveRun((state) => state.log);
  const frames = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const n = moment_s === null ? frames - 1 : Math.min(log.numberAt(moment_s), frames - 1);
  const now = outputLogsAt(log, n);
  if (!now) return <Empty icon="clock" title="No frame has come yet, so nothing is known of the output logs" />;
  const { news, limits } = now;
  return (
    <div className="stores scroll" tabIndex={0} role="region" aria-label="Output logs" data-testid="output-logs">
      <p className="about">
        <b>{plural(news.open_windows, "open window")}</b>
        <span title="Records about windows in this frame: that one opened, or what is in it">{plural(news.about, "record")} about windows</span>
        <span title="In this frame">{plural(news.checkpoints, "checkpoint")}</span>
        <span title="In this frame, results included">{bytes(news.bytes)} written</span>
        {limits.records !== null && <span>at most {plural(limits.records, "record")} to read</span>}
        {limits.replay !== null && <span>at most {plural(limits.replay, "record")} to process again</span>}
      </p>
      {news.infeasible > 0 && (
        <p className="about warn" data-testid="infeasible">
          {plural(news.infeasible, "instance has", "instances have")} more open windows than {plural(limits.records ?? 0, "record")}, so a recovery reads
          more. Allow at least one record for each window.
        </p>
      )}
      <div className="courses">
        <ValueStrip title="To read after a crash, records" unit={count} {...strip(log, "output_logs", "extent", n, FRAMES)} />
        <ValueStrip title="To process again, records" unit={count} {...strip(log, "output_logs", "replay", n, FRAMES)} />
      </div>
      <Outages outages={outagesAt(log.outages, now.t_s)}>
        <span title="Of all instances together">
          If their hosts crashed now, they would read {plural(news.extent, "record")} of their logs, and senders would send{" "}
          {plural(news.replay, "record")} again
        </span>
      </Outages>
      <Logs {...now} />
    </div>
  );
}

function Logs({ logs, limits, most, t_s }: OutputLogsAt) {
  return (
    <table className="table" data-testid="output-log-table">
      <thead>
        <tr>
          <th>Output log</th>
          <th title="Records that the log still has. The extent begins with the oldest record that an open window needs">
            <span className="key active" aria-hidden /> before <span className="key dirty" aria-hidden /> extent
          </th>
          <th title="How many are open, and when the one began with which the extent begins">Open windows</th>
          <th className="num" title="Records that a recovery would read, and their share of the limit">
            To read
          </th>
          <th className="num" title="Records of the input that it would process again, and their share of the limit">
            Again
          </th>
        </tr>
      </thead>
      <tbody>
        {logs.map(([name, log]) => (
          <tr key={name}>
            <td title={`${plural(log.checkpoints, "checkpoint")} of windows since the start`}>{name}</td>
            <td>
              <span className="segments" title={`${plural(log.kept, "record")}, of which the extent has ${log.extent.toLocaleString("en")}`}>
                <i className="active" style={{ width: `${(100 * (log.kept - log.extent)) / most}%` }} />
                <i className="dirty" style={{ width: `${(100 * log.extent) / most}%` }} />
              </span>
            </td>
            <td>{openText(log.open_windows, oldestAge_s(log, t_s))}</td>
            <td className="num">{ofLimit(log.extent, limits.records)}</td>
            <td className="num">{ofLimit(log.replay, limits.replay)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const openText = (open: number, age_s: number | null) => (age_s === null ? `${open}` : `${open}, since ${age_s.toFixed(1)} s`);

const ofLimit = (value: number, limit: number | null) =>
  limit === null ? value.toLocaleString("en") : `${value.toLocaleString("en")} (${percent(value / limit)})`;
