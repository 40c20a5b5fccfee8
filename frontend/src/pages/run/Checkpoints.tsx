import type { ReactNode } from "react";
import { Link } from "react-router";
import type { Recovery } from "../../api/types";
import { bytes, latency, percent, plural, short } from "../../lib/format";
import type { FaultMark } from "../../model/document/faults";
import { lineText, logSizes, stagesOf, turnText } from "../../model/run/checkpoints";
import { hold, momentOf, useLiveRun } from "./liveRun";

/** Older ones are in the export. */
const ROUNDS_MAX = 200;

/** Recoveries with what each host did when, and rounds; both newest first. losses: when which host was lost, as far as is known. */
export function Checkpoints({ losses }: { losses: FaultMark[] }) {
  const log = useLiveRun((state) => state.log);
  useLiveRun((state) => state.count); // the log grows in place
  const run = useLiveRun((state) => state.run?.id);
  const { rounds, recoveries, checkpoints, searched } = log.checkpoints;
  const shown = rounds.slice(-ROUNDS_MAX).toReversed();
  const regions = rounds.some(({ region }) => region !== undefined);
  return (
    <div className="cp-list scroll" tabIndex={0} role="region" aria-label="Checkpoints" data-testid="checkpoint-list">
      {recoveries.toReversed().map((recovery) => (
        <RecoveryStages key={recovery.epoch} recovery={recovery} losses={losses} head_s={log.head_s}>
          {searched.has(recovery.epoch) && (
            <Link className="btn ghost mini-text" to={`/runs/${run}/recoveries/${recovery.epoch}`} title="Step by step, from the newest checkpoints">
              How the line was found
            </Link>
          )}
        </RecoveryStages>
      ))}
      {!recoveries.length && <p className="mut small">No host has been lost: nothing to recover from.</p>}
      <Logs />
      {rounds.length > 0 && (
        <table className="table" data-testid="rounds">
          <thead>
            <tr>
              <th className="num">Round</th>
              {regions && <th>Region</th>}
              <th className="num">Triggered</th>
              <th className="num">Took</th>
              <th className="num">Checkpoints</th>
              <th className="num">Stored</th>
              <th>Ended</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ number, region, operators, triggered_s, ended, ended_s, checkpoints: count, bytes: size, turn }) => (
              <tr key={number}>
                <td className="num">{number}</td>
                {regions && <td title={operators?.join(", ")}>{region}</td>}
                <td className="num">
                  <button className="btn ghost mini-text" onClick={() => hold(triggered_s)} title="Show this moment">
                    {triggered_s.toFixed(2)} s
                  </button>
                </td>
                <td className="num">{ended_s === null ? "–" : latency(1000 * (ended_s - triggered_s)).join(" ")}</td>
                <td className="num">{short(count)}</td>
                <td className="num">{bytes(size)}</td>
                <td className={ended === "failed" ? "bad" : ""} title={turn && turnText(turn)}>
                  {ended ?? "open"}
                  {turn && ended === "confirmed" && `, then ${turn.to}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rounds.length > ROUNDS_MAX && <p className="mut small">Plus {plural(rounds.length - ROUNDS_MAX, "earlier round")}.</p>}
      {!rounds.length && !checkpoints.size && <p className="mut small">No checkpoint yet.</p>}
    </div>
  );
}

/** What the logs of channels hold at the moment shown, by edge. */
function Logs() {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  if (!count) return null;
  const frame = log.frame(moment_s === null ? count - 1 : Math.min(log.numberAt(moment_s), count - 1));
  const { edges, total } = logSizes(frame?.checkpoints?.logs);
  if (!edges.length) return null;
  return (
    <section data-testid="logs">
      <div className="ph">
        <h2>Logs of channels</h2>
        <span className="mut">
          {bytes(total)} at {frame?.t_s.toFixed(2)} s
        </span>
      </div>
      <table className="table">
        <thead>
          <tr>
            <th>Edge</th>
            <th className="num">Bytes</th>
            <th className="num">Share</th>
          </tr>
        </thead>
        <tbody>
          {edges.map(([edge, size]) => (
            <tr key={edge}>
              <td>{edge.replace(">", " → ")}</td>
              <td className="num">{bytes(size)}</td>
              <td className="num">{percent(size / total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Hosts over the time of one recovery: lost, ordered back, restored, and all go on. */
function RecoveryStages({
  recovery,
  losses,
  head_s,
  children,
}: {
  recovery: Recovery;
  losses: FaultMark[];
  head_s: number;
  children: ReactNode;
}) {
  const { epoch, hosts, detected_s, go_s } = recovery;
  const found_s = recovery.found_s === undefined ? detected_s : (recovery.found_s ?? head_s);
  const stages = stagesOf(recovery, losses);
  const known = stages.flatMap(({ lost_s, ordered_s, restored_s }) => [lost_s, ordered_s, restored_s]).filter((t_s) => t_s !== null);
  const from_s = Math.min(detected_s, ...known);
  const to_s = Math.max(go_s ?? head_s, ...known);
  const share = (t_s: number) => `${(100 * (t_s - from_s)) / Math.max(to_s - from_s, 1e-9)}%`;
  const part = (className: string, begin_s: number | null, end_s: number | null) =>
    begin_s !== null &&
    end_s !== null &&
    end_s > begin_s && <i className={className} style={{ left: share(begin_s), width: `calc(${share(end_s)} - ${share(begin_s)})` }} />;
  /** After the detection, or before it. */
  const away = (t_s: number | null) => {
    if (t_s === null) return "–";
    const text = latency(1000 * Math.abs(t_s - detected_s)).join(" ");
    return t_s < detected_s ? `−${text}` : text;
  };
  const margin_s = (to_s - from_s) * 0.15;
  return (
    <section className="recovery" data-testid={`recovery-${epoch}`}>
      <div className="ph">
        <h2>Recovery {epoch}</h2>
        <span className="mut ell" title={`${hosts.join(", ")}, detected at ${detected_s} s`}>
          loss of {hosts.join(", ")}, detected at {detected_s.toFixed(3)} s
        </span>
        <button
          className="btn ghost mini-text"
          title="Zoom the charts to this recovery"
          onClick={() => useLiveRun.setState({ zoom: { from_s: Math.max(0, from_s - margin_s), to_s: to_s + margin_s } })}
        >
          Zoom
        </button>
        {children}
      </div>
      <table className="table">
        <thead>
          <tr>
            <th>Host</th>
            <th className="wide">
              <span className="vh">Stages</span>
            </th>
            <th className="num">Lost</th>
            <th className="num">Ordered</th>
            <th className="num">Restored</th>
          </tr>
        </thead>
        <tbody>
          {stages.map(({ host, lost_s, ordered_s, restored_s }) => (
            <tr key={host}>
              <td>{host}</td>
              <td className="wide">
                <div className="stages">
                  {part("down", lost_s, ordered_s ?? to_s)}
                  {lost_s === null && part("searching", detected_s, found_s)}
                  {part("restoring", ordered_s, restored_s ?? to_s)}
                  {part("ready", restored_s, go_s ?? to_s)}
                  <u style={{ left: share(detected_s) }} title="Detected" />
                </div>
              </td>
              <td className="num">{away(lost_s)}</td>
              <td className="num">{away(ordered_s)}</td>
              <td className="num">{away(restored_s)}</td>
            </tr>
          ))}
          <tr>
            <td>all</td>
            <td className="mut outcome" colSpan={4}>
              back to {lineText(recovery)}
              {go_s === null ? "" : `, resumed after ${away(go_s)}`}
            </td>
          </tr>
        </tbody>
      </table>
      <p className="lg mut">
        <span>
          <i className="swatch down" />
          down
        </span>
        {found_s > detected_s && (
          <span title="The coordinator searches for the recovery line; no instance rolls back before it is found">
            <i className="swatch searching" />
            searching, {away(found_s)}
          </span>
        )}
        <span>
          <i className="swatch restoring" />
          restoring
        </span>
        <span>
          <i className="swatch ready" />
          ready
        </span>
      </p>
    </section>
  );
}
