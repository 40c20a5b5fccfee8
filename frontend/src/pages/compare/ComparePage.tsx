import { useQueries, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { ApiError } from "../../api/client";
import { comparisonQuery, runQuery } from "../../api/queries";
import type { Run } from "../../api/types";
import { short } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { ALIGNMENTS, alignmentOf, COMPARED_MAX, COMPARED_MIN, comparedMetrics, idsOf, momentsIn, kindsOf, momentsOf, withBaseline, type Alignment } from "../../model/run/compare";
import { PinButton, useBaselines } from "../../session/baseline";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading, StateBadge } from "../../ui/states";
import { Tabs } from "../../ui/Tabs";
import { TopBar } from "../../ui/TopBar";
import { Attribution } from "./Attribution";
import { CompareCharts } from "./CompareCharts";
import type { Compared } from "./compared";
import { Figures } from "./Figures";
import { Gone } from "./Gone";
import { LineSample, LINES } from "./lines";
import { Parameters } from "./Parameters";
import { RunPicker } from "./RunPicker";
import { useFrames } from "./useFrames";
import "./compare.css";

const SIDES = [
  { id: "figures", label: "Metrics" },
  { id: "attribution", label: "Time by operator" },
] as const;
type SideId = (typeof SIDES)[number]["id"];

/**
 * Two to four runs over one time axis; the first is what the others are held against. Which ones, and on what they are aligned, stands in
 * the address.
 */
export function ComparePage() {
  const [url, change] = useUrlState(["runs", "metric", "all", "align", "at", "side"]);
  const ids = useMemo(() => idsOf(url.runs), [url.runs]);
  const own = useMemo(() => momentsIn(url.at, ids.length), [url.at, ids.length]);
  const [picking, setPicking] = useState(false);
  const setIds = (next: string[]) => {
    const at = next.map((id) => own[ids.indexOf(id)] ?? 0);
    change({ runs: next.join(","), at: at.some(Boolean) ? at.join(",") : "" });
  };
  const found = useQueries({
    combine: together,
    queries: ids.map((id) => runQuery(id)),
  });
  const { data: comparison } = useQuery(comparisonQuery(ids, comparedMetrics(found.runs)));
  const gone = useMemo(
    () => ids.filter((id, at) => found.missing.includes(at) || comparison?.gone.some((one) => one.id === id)),
    [ids, found.missing, comparison],
  );
  const { failed } = found;
  const runs = useMemo(() => found.runs.filter(({ id }) => !gone.includes(id)), [found.runs, gone]);
  const frames = useFrames(runs);
  const sides = useMemo(() => runs.map(({ id }) => comparison?.sides.find(({ run }) => run === id)), [runs, comparison]);
  const alignment = alignmentOf(url.align);
  const moments = useMemo(
    () => {
      const aligned = runs.map((run, at) => ({ run, frames: frames[at] ?? [] }));
      return momentsOf(alignment, aligned, runs.map(({ id }) => own[ids.indexOf(id)] ?? 0));
    },
    [alignment, runs, frames, own, ids],
  );
  const compared = useMemo(
    () => runs.map((run, at): Compared => ({ run, frames: frames[at] ?? [], zero_s: moments[at] ?? 0 })),
    [runs, frames, moments],
  );
  const lacking = ids.length - gone.length < COMPARED_MIN;
  const based = withBaseline(runs, useBaselines());
  const side = SIDES.find(({ id }) => id === url.side)?.id ?? "figures";
  return (
    <div className="page on-compare">
      <TopBar
        title="Compare runs"
        crumb={<h1>Compare runs</h1>}
        actions={
          <>
          {!lacking && <Align alignment={alignment} onAlign={(align) => change({ align })} />}
          <button
            className="btn"
            disabled={ids.length >= COMPARED_MAX}
            title={ids.length >= COMPARED_MAX ? `At most ${COMPARED_MAX} runs are compared at once` : "Choose from all runs"}
            onClick={() => setPicking(true)}
          >
            <Icon name="plus" />
            Add a run
          </button>
          </>
        }
      />
      {gone.length > 0 && <Gone gone={gone} comparison={comparison} onLeave={() => setIds(ids.filter((id) => !gone.includes(id)))} />}
      {lacking && failed < 0 ? (
        <Empty
          icon="compare"
          title={ids.length > gone.length ? "Choose a second run" : "Choose two to four runs to compare"}
          action={
            <span className="two-actions">
              <button className="btn primary" onClick={() => setPicking(true)}>
                <Icon name="plus" />
                Choose runs
              </button>
              <Link className="btn" to="/runs">
                Back to runs
              </Link>
            </span>
          }
        >
          Compare latency, throughput and queues on one axis of virtual time, together with metrics and differences between the documents.
        </Empty>
      ) : failed >= 0 ? (
        <Failure error={found.error} retry={() => void found.retry()} />
      ) : compared.length + gone.length < ids.length ? (
        <Loading />
      ) : (
        <div className="compare" data-testid="compare">
          <Chips
            compared={compared}
            alignment={alignment}
            moments={moments}
            onMoment={(id, moment_s) => change({ at: ids.map((one, at) => (one === id ? moment_s : own[at])).join(",") }, true)}
            onOrder={(next) => setIds([...next, ...gone])}
          />
          <div className="compare-main">
            <CompareCharts compared={compared} aligned={ZERO[alignment]} metric={url.metric} onMetric={(metric) => change({ metric })} />
            <div className="compare-side">
              <section className="panel" aria-label={side === "figures" ? "Metrics" : "Time by operator"} data-testid="figures">
                <Tabs<SideId>
                  label="Comparison"
                  tabs={[...SIDES]}
                  value={side}
                  onChange={(next) => change({ side: next === "figures" ? "" : next })}
                  end={
                    based.length > 1 && based[0] !== runs[0]?.id ? (
                      <button className="btn ghost small" title="Compare with the pinned baseline of this experiment" onClick={() => setIds([...based, ...gone])}>
                        <Icon name="pin" small />
                        Against the baseline
                      </button>
                    ) : (
                      <span className="mut small">against run {runs[0]?.number}</span>
                    )
                  }
                />
                {side === "figures" ? <Figures runs={runs} sides={sides} /> : <Attribution runs={runs} />}
              </section>
              <Parameters runs={runs} sides={sides} all={url.all === "1"} onAll={(all) => change({ all: all ? "1" : "" })} />
            </div>
          </div>
        </div>
      )}
      {picking && (
        <RunPicker
          chosen={ids}
          onClose={() => setPicking(false)}
          onChoose={(next) => {
            setIds(next);
            setPicking(false);
          }}
        />
      )}
    </div>
  );
}

/** What the moment has in common that counts as 0. */
const ZERO: Record<Alignment, string> = { "": "", fault: "first fault", fork: "fork", own: "chosen moment" };

function Align({ alignment, onAlign }: { alignment: Alignment; onAlign: (alignment: Alignment) => void }) {
  return (
    <label className="in align" title="How the runs are aligned">
      <select aria-label="Align on" value={alignment} onChange={(event) => onAlign(alignmentOf(event.target.value))}>
        {ALIGNMENTS.map(({ id, label }) => (
          <option key={id} value={id}>
            Align on: {label.toLowerCase()}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </label>
  );
}

const isGone = (error: unknown) => error instanceof ApiError && error.status === 404;

/** The runs that are here, the places of those that are not any more, and of one that could not be had (-1: none). */
function together(results: UseQueryResult<Run>[]) {
  const failed = results.findIndex(({ error }) => error && !isGone(error));
  return {
    runs: results.flatMap(({ data, error }) => (data && !isGone(error) ? [data] : [])),
    missing: results.flatMap(({ error }, at) => (isGone(error) ? [at] : [])),
    failed,
    error: results[failed]?.error,
    retry: () => results[failed]?.refetch(),
  };
}

/** The moment of a run that counts as 0. */
function Moment({ run, moment_s, onMoment }: { run: Run; moment_s: number; onMoment: (moment_s: number) => void }) {
  const [text, setText] = useState(String(moment_s));
  const value = Number(text);
  const wrong = text.trim() === "" || !(value >= 0 && value <= (run.horizon_s ?? Infinity));
  return (
    <label className="moment" title={wrong ? `A time from 0 to ${run.horizon_s} s` : "This moment of the run is time 0"}>
      at
      <span className={`in ${wrong ? "err" : ""}`}>
        <input
          aria-label={`Moment of run ${run.number}, s`}
          inputMode="decimal"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            const next = Number(event.target.value);
            if (event.target.value.trim() && next >= 0 && next <= (run.horizon_s ?? Infinity)) onMoment(next);
          }}
        />
      </span>
      s
    </label>
  );
}

/** The runs with their lines. The first is the one that the others are held against. */
function Chips({
  compared,
  alignment,
  moments,
  onMoment,
  onOrder,
}: {
  compared: Compared[];
  alignment: Alignment;
  /** By place, null: this run has no such event, and is laid down by its beginning. */
  moments: (number | null)[];
  onMoment: (id: string, moment_s: number) => void;
  onOrder: (ids: string[]) => void;
}) {
  const ids = compared.map(({ run }) => run.id);
  const kinds = kindsOf(compared.map(({ run }) => run.document));
  return (
    <ul className="chips" aria-label="Compared runs">
      {compared.map(({ run }, at) => (
        <li key={run.id} className="chip" data-testid={`compared-${run.number}`}>
          <LineSample line={LINES[at]} />
          <span className="ell">
            <Link to={`/runs/${run.id}`}>
              <b>Run {run.number}</b>
            </Link>{" "}
            <span title={run.experiment.name}>{run.experiment.name}</span>
          </span>
          {kinds[at] && (
            <span className="mut small" title="Choices that differ from the other runs">
              {kinds[at]}
            </span>
          )}
          <span className="mut small">seed {run.seed}</span>
          {alignment === "own" ? (
            <Moment run={run} moment_s={moments[at] ?? 0} onMoment={(moment_s) => onMoment(run.id, moment_s)} />
          ) : (
            alignment && (
              <span className={`badge ${moments[at] === null ? "warn" : ""}`} title={moments[at] === null ? "Aligned by its start" : "This moment of the run is time 0"}>
                {moments[at] === null ? ALIGNMENTS.find(({ id }) => id === alignment)?.lacks : `at ${short(moments[at] ?? 0)} s`}
              </span>
            )
          )}
          {run.state !== "succeeded" && <StateBadge state={run.state} />}
          {at === 0 ? (
            <>
              <span className="mut small" title="The other runs are compared with this one">
                baseline
              </span>
              <PinButton run={run} className="btn ghost icon mini" iconOnly />
            </>
          ) : (
            <button
              className="btn ghost icon mini"
              title="Compare the others with this run"
              aria-label={`Make run ${run.number} the baseline`}
              onClick={() => onOrder([run.id, ...ids.filter((id) => id !== run.id)])}
            >
              <Icon name="flag" small />
            </button>
          )}
          <button
            className="btn ghost icon mini"
            title="Remove from the comparison"
            aria-label={`Remove run ${run.number}`}
            onClick={() => onOrder(ids.filter((id) => id !== run.id))}
          >
            <Icon name="cross" small />
          </button>
        </li>
      ))}
    </ul>
  );
}
