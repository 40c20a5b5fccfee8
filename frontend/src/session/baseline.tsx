/** Baselines: the run of an experiment that its other runs are held against, pinned for the whole lab. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { put, remove } from "../api/client";
import { baselinesQuery } from "../api/queries";
import type { Baseline, Run } from "../api/types";
import { Icon } from "../ui/Icon";
import { toast } from "../ui/toasts";
import { WriteButton } from "./may";

/** The baselines by experiment. */
export function useBaselines(): ReadonlyMap<string, Baseline> {
  return useQuery({ ...baselinesQuery, select: byExperiment }).data ?? NONE;
}

const NONE: ReadonlyMap<string, Baseline> = new Map();
const byExperiment = (baselines: Baseline[]): ReadonlyMap<string, Baseline> => new Map(baselines.map((one) => [one.experiment, one]));

/** Pins the run as its experiment's baseline, or unpins it. iconOnly: the text is left to its name. */
export function PinButton({ run, className = "btn", iconOnly = false }: { run: Run; className?: string; iconOnly?: boolean }) {
  const client = useQueryClient();
  const current = useBaselines().get(run.experiment.id);
  const isPinned = current?.run === run.id;
  const send = useMutation({
    mutationFn: () => (isPinned ? remove(`/api/runs/${run.id}/baseline`) : put(`/api/runs/${run.id}/baseline`, {})),
    onSuccess: () => toast(isPinned ? `Run ${run.number} unpinned.` : `Run ${run.number} pinned; the other runs of “${run.experiment.name}” are compared with it.`),
    onError: (error) => toast(error.message, { tone: "err" }),
    onSettled: () => client.invalidateQueries({ queryKey: ["baselines"] }),
  });
  const isWhole = run.state === "succeeded" || isPinned;
  const text = isPinned ? "Unpin baseline" : "Pin as baseline";
  const why = !isWhole
    ? "Only a run that succeeded can be the baseline"
    : isPinned
      ? "Runs of this experiment are compared with this one; unpin it"
      : current
        ? `Compare the runs of this experiment with this one, in place of run ${current.number}`
        : "Compare the other runs of this experiment with this one";
  return (
    <WriteButton
      className={className}
      disabled={send.isPending || !isWhole}
      title={why}
      aria-label={iconOnly ? `${text}, run ${run.number}` : undefined}
      onClick={() => send.mutate()}
    >
      <span style={isPinned ? { color: "var(--accent)" } : undefined}>
        <Icon name="pin" small={iconOnly} />
      </span>
      {!iconOnly && text}
    </WriteButton>
  );
}
