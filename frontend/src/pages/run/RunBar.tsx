import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { memo, useMemo, useState } from "react";
import { Link, useNavigate } from "react-router";
import { ApiError, get, post } from "../../api/client";
import { isActive, studyQuery } from "../../api/queries";
import type { ExperimentRecord, Run } from "../../api/types";
import { plural } from "../../lib/format";
import { outcomeText, verdictsText } from "../../model/document/assertions";
import { editedSince } from "../../model/run/edited";
import { paceIn } from "../../model/run/pace";
import { PinButton } from "../../session/baseline";
import { WriteButton } from "../../session/may";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { PaceField } from "../../ui/PaceField";
import { StateBadge } from "../../ui/states";
import { toast } from "../../ui/toasts";
import { TopBar } from "../../ui/TopBar";
import { VerdictBadge } from "../../ui/VerdictBadge";
import { ExportMenu } from "./ExportMenu";

/** What is open and its state; run again, with the same or another seed, or the experiment as it is now. */
export const RunBar = memo(function RunBar({ run, gone }: { run: Run; gone: boolean }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: ({ path, ...body }: { path: string; seed?: number; pace?: number | null }) => post<Run>(path, body),
    onSuccess: (made) => {
      if (made.note) toast(made.note, { tone: "warn", seconds: 12 });
      void client.invalidateQueries({ queryKey: ["runs"] });
      void navigate(`/runs/${made.id}`);
    },
    onError: (error) => {
      const why = error instanceof ApiError ? error.problems[0]?.message : undefined;
      toast(why ? `${error.message}: ${why}` : error.message, { tone: "err" });
    },
  });
  const { data: experiment, error: lost } = useQuery({
    queryKey: ["experiment-now", run.experiment.id],
    queryFn: () => get<ExperimentRecord>(`/api/experiments/${run.experiment.id}`),
    staleTime: 2000,
  });
  const { data: study } = useQuery({ ...studyQuery(run.study ?? ""), enabled: Boolean(run.study) });
  const edits = useMemo(
    () => (experiment && run.document ? editedSince(run.document, experiment.document) : []),
    [experiment, run.document],
  );
  // A fork or a study's run differs from its experiment by what it was made for, whether somebody has edited that or not.
  const isVariant = typeof run.fork_at_s === "number" || Boolean(run.study);
  const refusal = useRefusal();
  const again = (changes: { seed?: number; pace?: number | null } = {}) => start.mutate({ path: `/api/runs/${run.id}/rerun`, ...changes });
  const missing = lost instanceof ApiError && lost.status === 404;
  return (
    <TopBar
      title={`Run ${run.number}, ${run.experiment.name}`}
      crumb={
        <>
          <Link to="/runs">Runs</Link>
          <span>/</span>
          <b title={run.experiment.name}>{run.experiment.name}</b>
          <span>
            run {run.number}, seed {run.seed}
          </span>
          {run.parent && typeof run.fork_at_s === "number" && (
            <Link className="badge" to={`/compare?runs=${run.parent},${run.id}`} data-testid="forked" title="Compare with the run that it was forked from">
              <Icon name="fork" small />
              Fork at {run.fork_at_s.toFixed(2)} s
            </Link>
          )}
          <StateBadge state={run.state} />
          {run.judged && (
            <Link className="plain-link" to="?panel=assertions" replace data-testid="judged" title={`Assertions: ${verdictsText(run.verdicts)}`}>
              <VerdictBadge state={run.judged} text={outcomeText(run.verdicts)} />
            </Link>
          )}
          {run.study && (
            <Link to={`/studies/${run.study}`} data-testid="of-study" title="This run was started by a study">
              {study ? study.name : "its study"}
            </Link>
          )}
          {edits.length > 0 && !isVariant && (
            <span className="badge warn" data-testid="edited" title={`Changed since this run: ${edits.slice(0, 8).join(", ")}${edits.length > 8 ? ", ..." : ""}`}>
              <Icon name="dots" small />
              Edited since
            </span>
          )}
        </>
      }
      actions={
        <>
          {missing ? (
            <button className="btn" disabled title="The experiment was deleted; the run keeps its own copy of the document">
              <Icon name="canvas" />
              Open experiment
            </button>
          ) : (
            <Link className="btn" to={`/experiments/${run.experiment.id}`}>
              <Icon name="canvas" />
              Open experiment
            </Link>
          )}
          <ExportMenu runId={run.id} gone={gone} />
          <Link className="btn icon" to={`/studies/new?run=${run.id}`} aria-label="Study this run" title="A study of this run's document">
            <Icon name="studies" />
          </Link>
          {!gone && <PinButton run={run} className="btn icon" iconOnly />}
          <span className="split plain">
            <WriteButton
              className="btn"
              data-testid="rerun"
              disabled={start.isPending || gone}
              title={
                gone
                  ? "This run was deleted"
                  : isActive(run)
                    ? "Run the same document and seed again, next to this run"
                    : "Run the same document and seed again"
              }
              onClick={() => again()}
            >
              <Icon name="rerun" />
              Run again
            </WriteButton>
            <Menu title="Run again with another seed or pace" refusal={refusal} className="btn" label={<Icon name="down" small />}>
              {(close) => (
                <Again
                  seed={run.seed}
                  disabled={start.isPending || gone}
                  edits={edits.length}
                  onAgain={(seed, pace) => {
                    close();
                    again({ seed, pace });
                  }}
                  onNow={(pace) => {
                    close();
                    start.mutate({ path: `/api/experiments/${run.experiment.id}/runs`, pace });
                  }}
                />
              )}
            </Menu>
          </span>
        </>
      }
    />
  );
});

function Again({
  seed: old,
  disabled,
  edits,
  onAgain,
  onNow,
}: {
  seed: number;
  disabled: boolean;
  edits: number;
  onAgain: (seed: number, pace: number | null) => void;
  onNow: (pace: number | null) => void;
}) {
  const [seed, setSeed] = useState(() => String(old + 1));
  const [pace, setPace] = useState("");
  const read = paceIn(pace);
  const rightSeed = /^\d{1,15}$/.test(seed);
  const why = !rightSeed ? "A seed is a whole number of at least 0" : "problem" in read ? read.problem : "";
  const chosen = "pace" in read ? read.pace : null;
  return (
    <form
      className="seed"
      onSubmit={(event) => {
        event.preventDefault();
        if (!why && !disabled) onAgain(Number(seed), chosen);
      }}
    >
      <div className="field">
        <label htmlFor="again-seed">
          Seed<i>of this run: {old}</i>
        </label>
        <div className={`in ${rightSeed ? "" : "err"}`}>
          <input id="again-seed" inputMode="numeric" value={seed} autoFocus onChange={(event) => setSeed(event.target.value.trim())} />
        </div>
      </div>
      <PaceField value={pace} onChange={setPace} />
      <span className="two">
        <button type="button" className="btn" onClick={() => setSeed(String(Math.floor(Math.random() * 1_000_000)))}>
          Pick a random seed
        </button>
        <button className="btn primary" data-testid="rerun-seed" disabled={disabled || Boolean(why)} title={why}>
          Run again
        </button>
      </span>
      {edits > 0 && (
        <button type="button" className="btn" disabled={disabled} onClick={() => onNow(chosen)} title={`${plural(edits, "field")} differ from this run's document`}>
          <Icon name="play" />
          Run the current version of the experiment
        </button>
      )}
    </form>
  );
}
