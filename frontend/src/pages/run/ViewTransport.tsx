import { isActive, isMoving } from "../../api/queries";
import type { Run } from "../../api/types";
import { chartsOf, type ChartId, type Has } from "../../model/run/charts";
import type { RunEvent } from "../../model/run/events";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { ForkMenu } from "./ForkMenu";
import { freezeOrReplay } from "./keys";
import { momentOf, useLiveRun, useShowing } from "./liveRun";
import { follow, REFRESH_RATES, SPEEDS, usePlayback, viewSays } from "./playback";
import { WallTime } from "./WallTime";

/** The moment that this page shows: freeze it, replay from it, follow the run. The run itself goes on regardless (`RunTransport`). */
export function ViewTransport({
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
  const speed = useShowing((state) => state.speed);
  const moves = playing || (pinned === null && isMoving(run));
  const at = count ? Math.min(log.numberAt(shown_s), count - 1) : -1;
  const stepTo = (n: number) => n >= 0 && n < count && useLiveRun.setState({ pinned_s: log.timeOf(n), playing: false });
  const hold = (t_s: number) => stepTo(log.numberAt(Math.max(0, Math.min(t_s, head_s))));
  const times = [...new Set(events.flatMap((event) => (event.t_s === null ? [] : [event.t_s])))].sort((a, b) => a - b);
  const earlier = times.findLast((t_s) => t_s < shown_s - 1e-9);
  const share = (t_s: number) => `${Math.min(100, (t_s / end_s) * 100)}%`;
  return (
    <section className="tr" aria-label="View controls">
      <h2 title="These controls move what this page shows. They do not affect the run.">View</h2>
      <div className="pl">
        <button
          className="btn"
          title={!count ? "No frame yet" : moves ? "Freeze what this page shows; the run continues (K)" : "Replay the recorded frames from here (K)"}
          data-testid="play"
          disabled={!count}
          onClick={freezeOrReplay}
        >
          <Icon name={moves ? "pin" : "restore"} />
          {moves ? "Freeze view" : "Replay"}
          <kbd>K</kbd>
        </button>
        <Follow run={run} />
        <button
          className="btn ghost icon"
          title={earlier === undefined ? "No earlier event" : "Previous event"}
          aria-label="Previous event"
          disabled={earlier === undefined}
          onClick={() => earlier !== undefined && hold(earlier)}
        >
          <Icon name="first" />
        </button>
        <button
          className="btn ghost icon"
          title={at <= 0 ? "This is the first frame" : "One frame back (,)"}
          aria-label="One frame back"
          disabled={at <= 0}
          onClick={() => stepTo(at - 1)}
        >
          <Icon name="left" />
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
        <span data-testid="view-says">{viewSays({ run, pinned_s: pinned, playing, speed })}</span>
      </div>
      {!isActive(run) && <WallTime run={run} head_s={head_s} />}
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
          title={count ? undefined : "The run has no frames yet"}
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
    </section>
  );
}

/** Back to the newest moment: the head of a run in progress, or the end. */
function Follow({ run }: { run: Run }) {
  const there = useLiveRun((state) => state.pinned_s === null);
  const active = isActive(run);
  return (
    <button
      className="btn"
      disabled={there}
      title={there ? (active ? "The view follows the run already" : "Showing the end already") : active ? "Follow the run (Esc)" : "Show the end (Esc)"}
      onClick={follow}
    >
      <Icon name="last" />
      {active ? "Follow" : "To the end"}
    </button>
  );
}

/** How fast the moment moves while it is replayed, and how often the page draws: two things apart. */
function Speed() {
  const { speed, refresh_per_s } = useShowing();
  return (
    <Menu
      title="Replay speed and redraw rate"
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
            legend="Replay, virtual seconds per second"
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
