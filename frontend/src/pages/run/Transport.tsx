import { useEffect, useState } from "react";
import { isActive, isMoving } from "../../api/queries";
import type { Run } from "../../api/types";
import { duration, short } from "../../lib/format";
import { chartsOf, type ChartId, type Has } from "../../model/run/charts";
import type { RunEvent } from "../../model/run/events";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { ForkMenu } from "./ForkMenu";
import { playOrPause } from "./keys";
import { momentOf, useLiveRun, useShowing } from "./liveRun";
import { goLive, REFRESH_RATES, SPEEDS, usePlayback } from "./playback";

/** Where the run is and which moment is shown. The slider holds a moment, play moves it on; "Go live" follows the head again. */
export function Transport({
  run,
  gone,
  end_s,
  events,
  charts,
  has,
  onCharts,
}: {
  run: Run;
  gone: boolean;
  end_s: number;
  events: RunEvent[];
  charts: ChartId[];
  has: Has;
  onCharts: (charts: ChartId[]) => void;
}) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const pinned = useLiveRun((state) => state.pinned_s);
  const playing = useLiveRun((state) => state.playing);
  const zoom = useLiveRun((state) => state.zoom);
  usePlayback();
  const head_s = count ? log.timeOf(count - 1) : 0;
  const shown_s = moment_s ?? head_s;
  const live = pinned === null && isMoving(run);
  const at = count ? Math.min(log.numberAt(shown_s), count - 1) : -1;
  const stepTo = (n: number) => n >= 0 && n < count && useLiveRun.setState({ pinned_s: log.timeOf(n), playing: false });
  const hold = (t_s: number) => stepTo(log.numberAt(Math.max(0, Math.min(t_s, head_s))));
  const times = [...new Set(events.flatMap((event) => (event.t_s === null ? [] : [event.t_s])))].sort((a, b) => a - b);
  const earlier = times.findLast((t_s) => t_s < shown_s - 1e-9);
  const share = (t_s: number) => `${Math.min(100, (t_s / end_s) * 100)}%`;
  return (
    <section className="tr" aria-label="Moment shown">
      <h2 title="These controls move the view. They do not affect the run.">Shown</h2>
      <div className="pl">
        <button
          className="btn ghost icon"
          title={earlier === undefined ? "No earlier event" : "Previous event"}
          aria-label="Previous event"
          disabled={earlier === undefined}
          onClick={() => earlier !== undefined && hold(earlier)}
        >
          <Icon name="prev" />
        </button>
        <button
          className="btn icon play"
          title={
            !count ? "No frame yet" : playing || live ? "Freeze the view; the run continues (K)" : pinned === null ? "Play from the start (K)" : "Play from here (K)"
          }
          aria-label={playing || live ? "Freeze view" : "Play"}
          data-testid="play"
          disabled={!count}
          onClick={playOrPause}
        >
          <Icon name={playing || live ? "pause" : "play"} />
        </button>
        <button
          className="btn ghost icon"
          title={at <= 0 ? "This is the first frame" : "One frame back (,)"}
          aria-label="One frame back"
          disabled={at <= 0}
          onClick={() => stepTo(at - 1)}
        >
          <Icon name="right" className="flip" />
        </button>
        <button
          className="btn ghost icon"
          title={at < 0 || at >= count - 1 ? "This is the last frame" : "One frame forward (.)"}
          aria-label="One frame forward"
          disabled={at < 0 || at >= count - 1}
          onClick={() => stepTo(at + 1)}
        >
          <Icon name="right" />
        </button>
      </div>
      <div className="time">
        <b data-testid="virtual-time">
          {shown_s.toFixed(2)} <i>/ {end_s} s</i>
        </b>
        virtual
      </div>
      <WallTime run={run} head_s={head_s} />
      <div className="scrub">
        <div className="track-line">
          <i style={{ width: share(head_s) }} />
          {zoom && <i className="z" style={{ left: share(zoom.from_s), width: share(zoom.to_s - zoom.from_s) }} />}
          <i className="v" style={{ width: share(shown_s) }} />
        </div>
        {events
          .filter((event) => event.t_s !== null && event.tone !== "plain")
          .map((event, index) => (
            <span
              key={index}
              className={`mk ${event.tone}`}
              title={`${event.text}, ${event.t_s?.toFixed(2)} s`}
              style={{ left: share(event.t_s ?? 0) }}
            >
              <Icon name={event.icon} small />
            </span>
          ))}
        <span className="sc" style={{ left: 0 }}>
          0
        </span>
        <span className="sc" style={{ right: 0 }}>
          {end_s} s
        </span>
        <span className="head" style={{ left: share(head_s) }} title={`Head, ${head_s.toFixed(2)} s`} />
        <input
          type="range"
          min={0}
          max={end_s}
          step="any"
          value={shown_s}
          aria-label="Moment shown"
          aria-valuetext={`${shown_s.toFixed(2)} seconds`}
          disabled={!count}
          onChange={(event) => hold(Number(event.target.value))}
        />
      </div>
      {zoom && (
        <button className="btn" title="Show the whole run (0, or double-click a chart)" onClick={() => useLiveRun.setState({ zoom: null })}>
          <Icon name="fit" />
          <span className="lbl">Whole run</span>
        </button>
      )}
      <ForkMenu run={run} at_s={count ? shown_s : null} horizon_s={run.horizon_s ?? end_s} gone={gone} />
      <Charts charts={charts} offered={chartsOf(has)} onCharts={onCharts} />
      <Speed />
      <button
        className={`btn ${pinned === null ? "live" : ""}`}
        disabled={pinned === null}
        title={
          pinned === null ? (isActive(run) ? "Following the head already" : "Showing the end already") : "Follow the head of the run (Esc)"
        }
        onClick={goLive}
      >
        <Icon name="step" />
        <span className="lbl">{isActive(run) ? "Go live" : "To the end"}</span>
      </button>
    </section>
  );
}

/** How fast the moment moves while it plays, and how often the page draws: two things apart. */
function Speed() {
  const { speed, refresh_per_s } = useShowing();
  return (
    <Menu
      title="Speed and refresh rate"
      className="btn"
      label={
        <>
          <span className="vh">Speed </span>
          {speed} × <Icon name="down" small />
        </>
      }
    >
      {() => (
        <div className="choices">
          <Choice
            legend="Play, virtual seconds a second"
            name="speed"
            values={SPEEDS}
            value={speed}
            onChange={(value) => useShowing.setState({ speed: value })}
          />
          <Choice
            legend="Redraws per second, at most"
            name="refresh"
            values={REFRESH_RATES}
            value={refresh_per_s}
            zero="all"
            onChange={(value) => useShowing.setState({ refresh_per_s: value })}
          />
        </div>
      )}
    </Menu>
  );
}

function Choice({
  legend,
  name,
  values,
  value,
  zero,
  onChange,
}: {
  legend: string;
  name: string;
  values: number[];
  value: number;
  /** In place of 0: whenever something comes. */
  zero?: string;
  onChange: (value: number) => void;
}) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <span className="seg">
        {values.map((one) => (
          <label key={one} title={one === 0 ? "On every update" : undefined}>
            <input type="radio" name={name} checked={value === one} onChange={() => onChange(one)} />
            {one || zero}
          </label>
        ))}
      </span>
    </fieldset>
  );
}

/** Which charts are shown; one stays. */
function Charts({
  charts,
  offered,
  onCharts,
}: {
  charts: ChartId[];
  offered: ReturnType<typeof chartsOf>;
  onCharts: (charts: ChartId[]) => void;
}) {
  return (
    <Menu
      title="Charts shown"
      className="btn"
      label={
        <>
          <Icon name="figures" />
          <span className="lbl">Charts</span>
        </>
      }
    >
      {() => (
        <div className="choices">
          <fieldset>
            <legend>Charts shown</legend>
            {offered.map(({ id, title }) => {
              const on = charts.includes(id);
              const only = on && charts.length === 1;
              return (
                <label key={id} title={only ? "At least one chart is shown" : undefined}>
                  <input
                    type="checkbox"
                    checked={on}
                    disabled={only}
                    onChange={() => onCharts(offered.map((one) => one.id).filter((one) => (one === id ? !on : charts.includes(one))))}
                  />
                  {title}
                </label>
              );
            })}
          </fieldset>
        </div>
      )}
    </Menu>
  );
}

const TOOK =
  "Wall-clock time from the claim by a worker to the end, including preparation, storage and pauses. The summary has the engine time alone.";

const DOING: Partial<Record<Run["state"], string>> = { queued: "waiting for a worker", running: "running", paused: "paused" };

/** Time on the clock since the start, how fast virtual time passes, and what is left. */
function WallTime({ run, head_s }: { run: Run; head_s: number }) {
  const [now, setNow] = useState(() => Date.now());
  const going = isActive(run);
  useEffect(() => {
    if (!going) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [going]);
  if (!run.started_at)
    return (
      <div className="time">
        <b>–</b>
        {DOING[run.state] ?? "not started"}
      </div>
    );
  const wall_s = Math.max(0, ((run.finished_at ? Date.parse(run.finished_at) : now) - Date.parse(run.started_at)) / 1000);
  const pace = wall_s > 0.2 ? head_s / wall_s : null;
  const speed = pace === null ? "" : `, ${short(pace)} × real time`;
  const doing = run.compiling ? "compiling this query: once, some 10 s" : DOING[run.state];
  const left = run.state === "running" && typeof run.eta_s === "number" ? `, ${duration(Math.max(0, run.eta_s))} left` : "";
  return (
    <div className="time wall" title={TOOK}>
      <b>
        {duration(wall_s).replace(/ s$/, "")} <i>{wall_s < 60 ? "s" : ""}</i>
      </b>
      {doing ?? "took"}
      {going ? left : speed}
    </div>
  );
}
