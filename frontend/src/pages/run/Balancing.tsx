import { useState } from "react";
import type { ExperimentDocument } from "../../api/document";
import type { BalancingAction } from "../../api/types";
import { bytes, latency, plural, short } from "../../lib/format";
import { actionAt, handOverOf, imbalancesOf, loadsOf, loadUnit, type Imbalance, type WorkerLoad } from "../../model/run/balancing";
import { Empty } from "../../ui/states";
import { momentOf, useLiveRun } from "./liveRun";

const MOVES_SHOWN = 50;

/** What the balancer did last: the loads of workers before and with its moves, and the moves. */
export function Balancing({ document }: { document: ExperimentDocument }) {
  const log = useLiveRun((state) => state.log);
  useLiveRun((state) => state.count); // actions come with frames
  const moment_s = useLiveRun(momentOf);
  const [chosen, setChosen] = useState("");
  const joins = [...new Set(log.balancing.map(({ join }) => join))];
  const join = joins.includes(chosen) ? chosen : joins[0];
  const action = join === undefined ? null : actionAt(log.balancing, join, moment_s);
  if (!action) return <Empty icon="clock" title="No plan has been made yet, so no workset has moved" />;
  const handOver = handOverOf(log.handOvers, action, moment_s);
  const plans = imbalancesOf(log.balancing, action.join);
  const shown = plans.find(({ t_s }) => t_s === action.t_s);
  return (
    <div className="balancing scroll" tabIndex={0} role="region" aria-label="Balancing" data-testid="balancing">
      <p className="about">
        <b>{plural(action.moves.length, "workset moves", "worksets move")} from {action.from_s} s on</b>
        {joins.length > 1 && (
          <select className="in" aria-label="Join" value={join} onChange={(event) => setChosen(event.target.value)}>
            {joins.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <span title="All worksets of the join, with those that had nothing to do">{plural(action.worksets, "workset")}</span>
        <span title="Sum of the deviations of the workers' loads from their mean, over the mean">
          imbalance {action.imbalance_share.toFixed(2)} → {shown?.after.toFixed(2)}
        </span>
        {action.hand_over !== undefined && (
          <span title="From the barrier on, workers that give or get worksets stand still until they have the records">
            {handOver
              ? `${bytes(handOver.bytes)} of records moved, ${span(handOver.aligned_s - handOver.ordered_s)} to the last barrier and ${span(handOver.ended_s - handOver.aligned_s)} from there`
              : "records are moving"}
          </span>
        )}
        {action.unknown && <span>no workset {action.unknown.map(([space, number]) => `${space}.${number}`).join(", ")} at that moment</span>}
        {action.pending > 0 && <span title="Records of windows before their last move may still come">{action.pending} still moving</span>}
      </p>
      {plans.length > 1 && <OverTime plans={plans} shown_s={action.t_s} />}
      <Loads rows={loadsOf(action)} />
      <Splits action={action} />
      <Moves action={action} unit={loadUnit(document)} />
    </div>
  );
}

const span = (seconds: number) => latency(1000 * seconds).join(" ");

const [WIDTH, HEIGHT] = [360, 40];

/** The imbalance at each plan: a bar as measured, in front of it one with the moves. */
function OverTime({ plans, shown_s }: { plans: Imbalance[]; shown_s: number }) {
  const most = Math.max(1e-9, ...plans.map(({ before }) => before));
  const step = WIDTH / plans.length;
  const [first, last] = [plans[0], plans.at(-1)];
  const height = (value: number) => Math.max(0.5, (HEIGHT * value) / most);
  return (
    <figure className="over-time">
      <figcaption>
        Imbalance at each plan, {first?.t_s.toFixed(1)} to {last?.t_s.toFixed(1)} s, at most {most.toFixed(2)}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label="Imbalance at each plan, before and with its moves">
        {plans.map(({ t_s, before, after }, n) => (
          <g key={t_s} className={t_s === shown_s ? "shown" : undefined}>
            <title>
              {t_s.toFixed(2)} s: {before.toFixed(2)}, with the moves {after.toFixed(2)}
            </title>
            <rect className="before" x={n * step} y={HEIGHT - height(before)} width={0.8 * step} height={height(before)} />
            <rect className="after" x={(n + 0.2) * step} y={HEIGHT - height(after)} width={0.4 * step} height={height(after)} />
          </g>
        ))}
      </svg>
    </figure>
  );
}

function Loads({ rows }: { rows: WorkerLoad[] }) {
  const most = Math.max(1, ...rows.flatMap(({ before, after }) => [before, after]));
  const width = (load: number) => `${(100 * load) / most}%`;
  return (
    <table className="table" data-testid="worker-loads">
      <thead>
        <tr>
          <th className="num">Worker</th>
          <th title="Load since the plan before, over the mean of all workers; the line is the mean">Before and after</th>
          <th className="num">Before</th>
          <th className="num" title="As planned: with the moves">
            After
          </th>
          <th className="num">Gives</th>
          <th className="num">Takes</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ worker, before, after, given, taken }) => (
          <tr key={worker}>
            <td className="num">{worker}</td>
            <td>
              <span className="loads" aria-hidden>
                <i className="before" style={{ width: width(before) }} />
                <i className="after" style={{ width: width(after) }} />
                <i className="mean" style={{ left: width(1) }} />
              </span>
            </td>
            <td className="num">{before.toFixed(2)}</td>
            <td className="num">{after.toFixed(2)}</td>
            <td className="num">{given || "–"}</td>
            <td className="num">{taken || "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Splits({ action: { splits = [], loads } }: { action: BalancingAction }) {
  return splits.map(([space, number, first, parts]) => (
    <p key={`${space}.${number}`} className="mut none" data-testid="split">
      Workset {space}.{number} is split into {parts} parts, on workers{" "}
      {Array.from({ length: parts }, (_, part) => (first + part) % loads.length).join(", ")}: each left record goes to one of them, each right one to all.
    </p>
  ));
}

function Moves({ action: { moves }, unit }: { action: BalancingAction; unit: string }) {
  if (!moves.length) return <p className="mut none">Nothing moves: no move lowers the imbalance enough.</p>;
  return (
    <table className="table" data-testid="moves">
      <thead>
        <tr>
          <th title="Space and number of the workset">Workset</th>
          <th className="num">From</th>
          <th className="num">To</th>
          <th className="num" title="Since the plan before">
            {unit}
          </th>
          <th className="num" title="Of its records">
            Bytes
          </th>
          <th className="num" title="By how much the imbalance falls, less what the move costs">
            Benefit
          </th>
        </tr>
      </thead>
      <tbody>
        {moves.slice(0, MOVES_SHOWN).map(([space, number, from, to, load, size, benefit], n) => (
          <tr key={n}>
            <td>
              {space}.{number}
            </td>
            <td className="num">{from}</td>
            <td className="num">{to}</td>
            <td className="num">{short(load)}</td>
            <td className="num">{bytes(size)}</td>
            <td className="num">{short(benefit)}</td>
          </tr>
        ))}
        {moves.length > MOVES_SHOWN && (
          <tr>
            <td colSpan={6} className="mut">
              {plural(moves.length - MOVES_SHOWN, "more move")}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
