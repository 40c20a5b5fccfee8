import { memo, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { ExperimentDocument } from "../../api/document";
import type { CheckpointRound, Recovery } from "../../api/types";
import { bytes, latency, plural } from "../../lib/format";
import { instancesOf } from "../../model/document/document";
import {
  changesText,
  FATES,
  forcedText,
  isCheckpointed,
  lineText,
  nearest,
  rowsOf,
  stretches,
  turnText,
  type Bar,
  type Fate,
  type Row,
} from "../../model/run/checkpoints";
import type { Span } from "../../model/run/series";
import { GUTTER_LEFT, GUTTER_RIGHT } from "../../ui/chart/Chart";
import { Icon } from "../../ui/Icon";
import { momentOf, useLiveRun } from "./liveRun";

/** Of a row, px: in height, and how near the pointer has to come to a bar. */
const ROW_PX = 16;
const NEAR_PX = 6;

const LEGEND: [className: string, label: string, means: string][] = [
  ["stored", "stored", "From the capture of the state of an instance until it is durable"],
  ["line", "in the line", "A recovery rolled back to it"],
  ["lost", "not used", "Part of a failed or aborted round, or newer than the line of a recovery"],
  ["useless", "useless", "No recovery line can contain it, regardless of later checkpoints"],
  ["pending", "in progress", "Not stored yet; for a round: not confirmed yet"],
  ["restore", "restoring", "From the detection of a loss until all hosts are restored"],
];

type Timed = { from_s: number; to_s: number | null };
type Drawn = { className: string; bars: Timed[] };

const hasUseless = ({ className, bars }: Drawn) => className === "useless" && bars.length > 0;

interface Lane {
  name: string;
  drawn: Drawn[];
  /** What is to be said of a moment, null if nothing is there. */
  at: (t_s: number, within_s: number) => string | null;
  /** Whether it can be expanded, and is. */
  expanded: boolean | null;
  inner: boolean;
}

/** Rounds and recoveries over time, and below them the checkpoints: a row for each operator, and for each instance of one of them. */
export function CheckpointGrid({ document, span, shades }: { document: ExperimentDocument; span: Span; shades: ReactNode }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const [expanded, setExpanded] = useState<string | null>(null);
  const [pointed, setPointed] = useState<{ lane: number; t_s: number } | null>(null);
  const [focused, setFocused] = useState<number | null>(null);
  const plot = useRef<HTMLDivElement>(null);
  const [width_px, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = plot.current;
    if (!element) return;
    const measure = () => setWidth(Math.max(0, element.clientWidth - GUTTER_LEFT - GUTTER_RIGHT));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const history = log.checkpoints;
  const operators = useMemo(() => document.query.operators.map((one) => ({ id: one.id, instances: instancesOf(one) })), [document]);
  // The history grows in place; the count says that there is something new.
  const lanes = useMemo(
    () =>
      count >= 0
        ? [
            roundLane(history.rounds, history.skipped_s, history.recoveries),
            ...rowsOf(history, operators, expanded).map((row) => rowLane(row, operators, expanded)),
          ]
        : [],
    [history, count, operators, expanded],
  );
  const head_s = log.head_s;
  const s_per_px = width_px ? (span.to_s - span.from_s) / width_px : 0;
  const shown = pointed ?? (focused === null ? null : { lane: focused, t_s: moment_s ?? head_s });
  const frame_s = count ? log.timeOf(0) : 0;
  const said = shown ? (lanes[shown.lane]?.at(shown.t_s, Math.max(NEAR_PX * s_per_px, pointed ? 0 : frame_s)) ?? null) : null;
  const empty = !history.rounds.length && !history.checkpoints.size && !history.recoveries.length;
  const interval_s = Number((document.policies?.checkpointing as { interval_s?: number } | undefined)?.interval_s ?? 5);
  return (
    <section className="cps" data-testid="chart-checkpoints">
      <div className="ph">
        <h2>Checkpoints</h2>
        <span className="said ell" role="status" title={said ?? undefined}>
          {said}
        </span>
        {said === null && <Legend useless={lanes.some(({ drawn }) => drawn.some(hasUseless))} />}
      </div>
      <div className="plot" ref={plot}>
        <div className="shades" style={{ left: GUTTER_LEFT, right: GUTTER_RIGHT }}>
          {shades}
        </div>
        {empty ? (
          <p className="none-here" data-testid="no-checkpoints">
            No checkpoint yet{isCheckpointed(document) && head_s < interval_s ? `: the first one is due at ${interval_s} s` : ""}.
          </p>
        ) : (
          <ul className="cp-rows scroll" onPointerLeave={() => setPointed(null)}>
            {lanes.map((lane, at) => (
              <li
                key={lane.name}
                className={lane.inner ? "inner" : ""}
                data-testid={`checkpoints-${lane.name}`}
                onPointerMove={(event) => {
                  const left = event.currentTarget.getBoundingClientRect().left + GUTTER_LEFT;
                  setPointed({ lane: at, t_s: span.from_s + (event.clientX - left) * s_per_px });
                }}
              >
                <Who
                  lane={lane}
                  onToggle={() => setExpanded(lane.expanded ? null : lane.name)}
                  onFocus={(has) => setFocused(has ? at : null)}
                />
                <LaneOf drawn={lane.drawn} span={span} width_px={width_px} head_s={head_s} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

function Legend({ useless }: { useless: boolean }) {
  return (
    <>
      <span className="mut">by operator</span>
      <div className="lg">
        {LEGEND.filter(([className]) => className !== "useless" || useless).map(([className, label, means]) => (
          <span key={className} title={means}>
            <svg width="14" height="10" aria-hidden="true" className="cp-lane">
              <path className={className} d={shape(className, [[1, 12]], 10)} />
            </svg>
            {label}
          </span>
        ))}
      </div>
    </>
  );
}

function Who({ lane, onToggle, onFocus }: { lane: Lane; onToggle: () => void; onFocus: (has: boolean) => void }) {
  const focus = { onFocus: () => onFocus(true), onBlur: () => onFocus(false) };
  if (lane.expanded === null)
    return (
      <span className="who ell" tabIndex={lane.inner ? -1 : 0} title={lane.name} {...focus}>
        {lane.name}
      </span>
    );
  return (
    <button
      className="who"
      aria-expanded={lane.expanded}
      title={`${lane.name}: ${lane.expanded ? "hide" : "show"} its instances`}
      onClick={onToggle}
      {...focus}
    >
      <Icon name={lane.expanded ? "down" : "right"} small />
      <span className="ell">{lane.name}</span>
    </button>
  );
}

const LaneOf = memo(function LaneOf({ drawn, span, width_px, head_s }: { drawn: Drawn[]; span: Span; width_px: number; head_s: number }) {
  return (
    <svg className="cp-lane" width={width_px} height={ROW_PX} aria-hidden="true">
      {drawn.map(({ className, bars }) => (
        <path key={className} className={className} d={shape(className, stretches(bars, span, width_px, head_s), ROW_PX)} />
      ))}
    </svg>
  );
});

/** Boxes in a row so high: those of the line fill it, others leave some room; a round that was left out is a cross. */
function shape(className: string, places: [x: number, width: number][], height: number): string {
  const inset = className === "line" || className === "restore" ? 1 : 3;
  if (className === "skipped") return places.map(([x]) => `M${x - 2} ${height / 2 - 3}l6 6m0-6l-6 6`).join("");
  if (className === "useless")
    return places
      .map(([x, width]) => `M${x} 3h${width}v${height - 6}h${-width}zM${x + width / 2 - 3} ${height / 2 - 3}l6 6m0 -6l-6 6`)
      .join("");
  const hollow = className === "lost" ? 0.5 : 0;
  return places
    .map(([x, width]) => `M${x + hollow} ${inset + hollow}h${width - 2 * hollow}v${height - 2 * (inset + hollow)}h${2 * hollow - width}z`)
    .join("");
}

const spell = (seconds: number) => latency(1000 * seconds).join(" ");
const clock = (t_s: number) => `${Number(t_s.toFixed(4))} s`;

const ROUND_FATE: Record<string, Fate> = { confirmed: "stored", failed: "lost", aborted: "lost" };

function roundLane(rounds: CheckpointRound[], skipped_s: number[], recoveries: Recovery[]): Lane {
  const fateOf = ({ ended }: CheckpointRound): Fate => ROUND_FATE[ended ?? ""] ?? "pending";
  const told = rounds.map((round) => ({ from_s: round.triggered_s, to_s: round.ended_s, fate: fateOf(round), round }));
  const restored = recoveries.map((recovery) => ({ from_s: recovery.detected_s, to_s: recovery.go_s, recovery }));
  const skipped = skipped_s.map((t_s) => ({ from_s: t_s, to_s: t_s }));
  return {
    name: rounds.length || skipped_s.length ? "rounds" : "all hosts",
    expanded: null,
    inner: false,
    drawn: [
      ...FATES.map((fate) => ({ className: `${fate} round`, bars: told.filter((one) => one.fate === fate) })),
      { className: "restore", bars: restored },
      { className: "skipped", bars: skipped },
    ],
    at: (t_s, within_s) => {
      const recovery = nearest(restored, t_s, within_s)?.recovery;
      if (recovery) return recoveryText(recovery);
      const round = nearest(told, t_s, within_s)?.round;
      if (round) return roundText(round);
      const left_out = nearest(skipped, t_s, within_s);
      return left_out && `A round was due at ${clock(left_out.from_s)} and skipped: another one, or a recovery, was in progress`;
    },
  };
}

function roundText({ number, region, triggered_s, ended, ended_s, checkpoints, bytes: size, turn }: CheckpointRound): string {
  const end = ended_s === null ? "open" : `${ended} after ${spell(ended_s - triggered_s)}`;
  return `Round ${number}${region === undefined ? "" : ` of ${region}`}: triggered at ${clock(triggered_s)}, ${end}; ${plural(checkpoints, "checkpoint")}, ${bytes(size)}${turn && ended === "confirmed" ? `; ${turnText(turn)}` : ""}`;
}

function recoveryText(recovery: Recovery): string {
  const { hosts, detected_s, go_s } = recovery;
  const end = go_s === null ? "not all restored yet" : `all restored after ${spell(go_s - detected_s)}`;
  return `Recovery: loss of ${hosts.join(", ")} detected at ${clock(detected_s)}, back to ${lineText(recovery)}; ${end}`;
}

function rowLane(row: Row, operators: { id: string; instances: number }[], expanded: string | null): Lane {
  const instances = operators.find(({ id }) => id === row.operator)?.instances ?? 1;
  const single = row.index !== null;
  const name = single ? `${row.operator}[${row.index}]` : row.operator;
  return {
    name,
    expanded: single || instances < 2 ? null : row.operator === expanded,
    inner: single,
    drawn: FATES.map((fate) => ({ className: fate, bars: row.bars.filter((bar) => bar.fate === fate) })),
    at: (t_s, within_s) => {
      const bar = nearest(row.bars, t_s, within_s);
      return bar && barText(name, bar, single ? 1 : instances);
    },
  };
}

const FATE_TEXT: Record<Fate, string> = { stored: "", line: ", in the line", lost: ", not used", pending: "", useless: ", useless: no line can contain it" };

function barText(name: string, { from_s, to_s, fate, checkpoints }: Bar, instances: number): string {
  const { number, kind } = checkpoints[0] as Bar["checkpoints"][number];
  const durable = checkpoints.filter(({ durable_s }) => durable_s !== null);
  const size = durable.reduce((sum, one) => sum + (one.bytes ?? 0), 0);
  const who = instances > 1 ? `${name}, ${checkpoints.length} of ${instances} instances` : name;
  const end =
    durable.length === checkpoints.length && to_s !== null
      ? `durable after ${spell(to_s - from_s)}`
      : `${durable.length} of ${checkpoints.length} durable`;
  const forced = forcedText(checkpoints);
  const called = kind === "basic" && !forced ? "basic checkpoint" : "checkpoint";
  const changes = changesText(durable);
  return `${who}: ${called} ${number}${forced && `, ${forced}`}${changes && `, ${changes}`}, captured at ${clock(from_s)}, ${end}, ${bytes(size)}${FATE_TEXT[fate]}`;
}
