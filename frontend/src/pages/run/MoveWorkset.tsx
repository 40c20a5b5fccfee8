import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { ApiError, post } from "../../api/client";
import type { Run } from "../../api/types";
import { balancingBody, forkRefusal, type WorksetMove } from "../../model/run/fork";
import type { SpacePicture } from "../../model/run/spaces";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";

const NAMED = /^(\d+)\.(\d+)$/;

/** Moves a workset, or plans anew, in a fork that is followed from there. */
export function MoveWorkset({
  run,
  gone,
  join,
  picture,
  at_s,
}: {
  run: Run;
  gone: boolean;
  join: string;
  picture: SpacePicture;
  at_s: number;
}) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const refusal = useRefusal() ?? forkRefusal(at_s, run.horizon_s ?? Infinity, gone);
  const largest = picture.worksets.reduce((best, one) => (one.compared > best.compared ? one : best));
  const [typed, setTyped] = useState<string | null>(null);
  const [worker, setWorker] = useState<number | null>(null);
  const name = typed ?? `${largest.space}.${largest.number}`;
  const [, space, number] = NAMED.exec(name) ?? [];
  const workset = picture.worksets.find((one) => String(one.space) === space && String(one.number) === number);
  const idlest = picture.workers.reduce((best, one) => (one.compared < best.compared ? one : best));
  const to = worker ?? idlest.worker;
  const make = useMutation({
    mutationFn: (moves: WorksetMove[]) => post<Run>(`/api/runs/${run.id}/fork`, balancingBody(at_s, join, moves)),
    onSuccess: (made) => {
      toast(made.note ?? `Run ${made.number} equals this one up to ${at_s.toFixed(2)} s`, { seconds: 8 });
      void client.invalidateQueries({ queryKey: ["runs"] });
      void navigate(`/runs/${made.id}?panel=balancing`);
    },
  });
  const stays = workset?.worker === to ? `Workset ${name} is on worker ${to} already` : "";
  const why = refusal ?? (workset ? stays : `There is no workset ${name} at this moment`);
  const problem = make.error instanceof ApiError ? (make.error.problems[0]?.message ?? make.error.message) : make.error?.message;
  return (
    <form
      className="by-hand"
      aria-label="Move worksets by hand"
      onSubmit={(event) => {
        event.preventDefault();
        if (!why && workset && !make.isPending) make.mutate([{ space: workset.space, number: workset.number, to }]);
      }}
    >
      <label>
        Workset <input className="in" value={name} aria-invalid={!workset} onChange={({ target }) => setTyped(target.value.trim())} />
      </label>
      <label>
        to worker{" "}
        <select className="in" value={to} onChange={({ target }) => setWorker(Number(target.value))}>
          {picture.workers.map((one) => (
            <option key={one.worker}>{one.worker}</option>
          ))}
        </select>
      </label>
      <button className="btn" disabled={Boolean(why) || make.isPending} title={why || "In a fork of this run, followed from here"} data-testid="move-workset">
        <Icon name="fork" />
        Move in a fork
      </button>
      <button
        className="btn"
        type="button"
        disabled={Boolean(refusal) || make.isPending}
        title={refusal ?? "Plan at this moment, in a fork of this run"}
        onClick={() => make.mutate([])}
        data-testid="rebalance"
      >
        Rebalance in a fork
      </button>
      {problem && (
        <p className="remark err" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
