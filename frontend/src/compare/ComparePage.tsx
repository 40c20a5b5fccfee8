import { useQueries, type UseQueryResult } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { runQuery } from "../api/queries";
import type { Frame, Run } from "../api/types";
import { TopBar } from "../app/TopBar";
import { COMPARED_MAX, COMPARED_MIN, idsOf } from "../model/compare";
import { Icon } from "../ui/Icon";
import { Empty, Failure, Loading, StateBadge } from "../ui/states";
import { useUrlState } from "../ui/useUrlState";
import { CompareCharts } from "./CompareCharts";
import { Figures } from "./Figures";
import { Parameters } from "./Parameters";
import { RunPicker } from "./RunPicker";
import { LineSample, LINES } from "./lines";
import { useFrames } from "./useFrames";
import "./compare.css";

/** One of the runs: how it is drawn depends on its place. */
export interface Compared {
  run: Run;
  frames: Frame[];
}

/** Two to four runs over one time axis; the first is what the others are held against. Which ones stands in the address. */
export function ComparePage() {
  const [url, change] = useUrlState(["runs", "metric", "all"]);
  const ids = idsOf(url.runs);
  const [picking, setPicking] = useState(false);
  const setIds = (next: string[]) => change({ runs: next.join(",") });
  const found = useQueries({
    combine: together,
    queries: ids.map((id) => runQuery(id)),
  });
  const { runs, failed } = found;
  const frames = useFrames(runs);
  const compared = useMemo(() => runs.map((run, at): Compared => ({ run, frames: frames[at] ?? [] })), [runs, frames]);
  const lacking = ids.length < COMPARED_MIN;
  return (
    <div className="page on-compare">
      <TopBar
        title="Compare runs"
        crumb={<h1>Compare runs</h1>}
        actions={
          <button
            className="btn"
            disabled={ids.length >= COMPARED_MAX}
            title={ids.length >= COMPARED_MAX ? `At most ${COMPARED_MAX} runs are compared at once` : "Choose from all runs"}
            onClick={() => setPicking(true)}
          >
            <Icon name="plus" />
            Add a run
          </button>
        }
      />
      {lacking && failed < 0 ? (
        <Empty
          icon="compare"
          title={ids.length ? "Choose a second run" : "Choose two to four runs to compare"}
          action={
            <span className="two-actions">
              <button className="btn primary" onClick={() => setPicking(true)}>
                <Icon name="plus" />
                Choose runs
              </button>
              <Link className="btn" to="/runs">
                To the runs
              </Link>
            </span>
          }
        >
          Their latency, throughput and queues over one axis of virtual time, beside their figures and what differs in their documents.
        </Empty>
      ) : failed >= 0 ? (
        <Failure
          error={found.error}
          retry={() => void found.retry()}
          leave={
            <button className="btn" onClick={() => setIds(ids.filter((_, at) => at !== failed))}>
              Go on without it
            </button>
          }
        />
      ) : compared.length < ids.length ? (
        <Loading />
      ) : (
        <div className="compare" data-testid="compare">
          <Chips compared={compared} onOrder={setIds} />
          <div className="compare-main">
            <CompareCharts compared={compared} metric={url.metric} onMetric={(metric) => change({ metric })} />
            <div className="compare-side">
              <Figures runs={runs} />
              <Parameters runs={runs} all={url.all === "1"} onAll={(all) => change({ all: all ? "1" : "" })} />
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

/** The runs that are here, and which one could not be had (-1: none). */
function together(results: UseQueryResult<Run>[]) {
  const failed = results.findIndex(({ error }) => error);
  return {
    runs: results.flatMap(({ data }) => (data ? [data] : [])),
    failed,
    error: results[failed]?.error,
    retry: () => results[failed]?.refetch(),
  };
}

/** The runs with their lines. The first is the one that the others are held against. */
function Chips({ compared, onOrder }: { compared: Compared[]; onOrder: (ids: string[]) => void }) {
  const ids = compared.map(({ run }) => run.id);
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
          <span className="mut small">seed {run.seed}</span>
          {run.state !== "succeeded" && <StateBadge state={run.state} />}
          {at === 0 ? (
            <span className="mut small" title="The others' figures are held against this run">
              baseline
            </span>
          ) : (
            <button
              className="btn ghost icon mini"
              title="Hold the others against this run"
              aria-label={`Make run ${run.number} the baseline`}
              onClick={() => onOrder([run.id, ...ids.filter((id) => id !== run.id)])}
            >
              <Icon name="flag" small />
            </button>
          )}
          <button
            className="btn ghost icon mini"
            title="Take it out of the comparison"
            aria-label={`Take run ${run.number} out`}
            onClick={() => onOrder(ids.filter((id) => id !== run.id))}
          >
            <Icon name="cross" small />
          </button>
        </li>
      ))}
    </ul>
  );
}
