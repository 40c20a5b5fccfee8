import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { memo, useMemo, useState } from "react";
import { Link, useNavigate } from "react-router";
import { ApiError, get, post } from "../api/client";
import { isActive } from "../api/queries";
import type { ExperimentRecord, Run } from "../api/types";
import { TopBar } from "../app/TopBar";
import { editedSince } from "../model/edited";
import { plural } from "../ui/format";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { StateBadge } from "../ui/states";
import { toast } from "../ui/toasts";

/** What is open and its state; run again, with the same or another seed, or the experiment as it is now; cancel. */
export const RunBar = memo(function RunBar({ run, gone }: { run: Run; gone: boolean }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const active = isActive(run) && !gone;
  const cancel = useMutation({
    mutationFn: () => post(`/api/runs/${run.id}/cancel`),
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const start = useMutation({
    mutationFn: ({ path, seed }: { path: string; seed?: number }) => post<Run>(path, seed === undefined ? {} : { seed }),
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
  const edits = useMemo(
    () => (experiment && run.document ? editedSince(run.document, experiment.document) : []),
    [experiment, run.document],
  );
  const again = (seed?: number) => start.mutate({ path: `/api/runs/${run.id}/rerun`, ...(seed === undefined ? {} : { seed }) });
  const missing = lost instanceof ApiError && lost.status === 404;
  const cancelling = cancel.isPending || cancel.isSuccess || run.cancel_requested === true;
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
          <StateBadge state={run.state} />
          {edits.length > 0 && (
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
          <span className="split plain">
            <button
              className="btn"
              data-testid="rerun"
              disabled={start.isPending || gone}
              title={
                gone
                  ? "This run was deleted"
                  : active
                    ? "Start the same document and seed once more, beside this run"
                    : "Run the same document and seed again"
              }
              onClick={() => again()}
            >
              <Icon name="rerun" />
              Run again
            </button>
            <Menu title="Run again with another seed" className="btn" label={<Icon name="down" small />}>
              {(close) => (
                <Again
                  seed={run.seed}
                  disabled={start.isPending || gone}
                  edits={edits.length}
                  onSeed={(seed) => {
                    close();
                    again(seed);
                  }}
                  onNow={() => {
                    close();
                    start.mutate({ path: `/api/experiments/${run.experiment.id}/runs` });
                  }}
                />
              )}
            </Menu>
          </span>
          {active && (
            <button
              className="btn danger"
              data-testid="cancel"
              disabled={cancelling}
              title={cancelling ? "The worker stops at the next frame" : "Stop this run; its frames are kept"}
              onClick={() => cancel.mutate()}
            >
              <Icon name="cross" />
              {cancelling ? "Cancelling" : "Cancel"}
            </button>
          )}
        </>
      }
    />
  );
});

function Again({
  seed: old,
  disabled,
  edits,
  onSeed,
  onNow,
}: {
  seed: number;
  disabled: boolean;
  edits: number;
  onSeed: (seed: number) => void;
  onNow: () => void;
}) {
  const [seed, setSeed] = useState(() => String(old + 1));
  const valid = /^\d{1,15}$/.test(seed);
  return (
    <form
      className="seed"
      onSubmit={(event) => {
        event.preventDefault();
        if (valid && !disabled) onSeed(Number(seed));
      }}
    >
      <div className="field">
        <label htmlFor="again-seed">
          Seed<i>this run had {old}</i>
        </label>
        <div className={`in ${valid ? "" : "err"}`}>
          <input id="again-seed" inputMode="numeric" value={seed} autoFocus onChange={(event) => setSeed(event.target.value.trim())} />
        </div>
      </div>
      <span className="two">
        <button type="button" className="btn" onClick={() => setSeed(String(Math.floor(Math.random() * 1_000_000)))}>
          Draw one
        </button>
        <button className="btn primary" data-testid="rerun-seed" disabled={disabled || !valid} title={valid ? "" : "A seed is a whole number from 0 on"}>
          Run again
        </button>
      </span>
      {edits > 0 && (
        <button type="button" className="btn" disabled={disabled} onClick={onNow} title={`${plural(edits, "field")} differ from this run's document`}>
          <Icon name="play" />
          Run the experiment as it is now
        </button>
      )}
    </form>
  );
}
