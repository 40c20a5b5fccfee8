import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post } from "../../api/client";
import type { ComparedSide, Run } from "../../api/types";
import { plural } from "../../lib/format";
import { isWide, seedsToRun } from "../../model/run/compare";
import { WriteButton } from "../../session/may";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";

/** How sure differences are, in words, and what would make them surer. */
export function MoreSeeds({ runs, sides }: { runs: Run[]; sides: (ComparedSide | undefined)[] }) {
  const client = useQueryClient();
  const known = sides.filter((side) => side !== undefined);
  const wanted = known.length === runs.length ? seedsToRun(runs, known) : [];
  const coming = known.reduce((sum, side) => sum + side.under_way.length, 0);
  const start = useMutation({
    mutationFn: async () => {
      for (const { run, seed } of wanted) await post(`/api/runs/${run}/rerun`, { seed });
    },
    onSuccess: () => toast(`${plural(wanted.length, "run")} started; the metrics update as they end.`),
    onError: (error) => toast(error.message, { tone: "err" }),
    onSettled: () => Promise.all(["compare", "runs"].map((name) => client.invalidateQueries({ queryKey: [name] }))),
  });
  const twins = known.some(({ twin }) => twin);
  if (!known.length) return null;
  const one = known.filter((side) => !isWide(side));
  const each = new Set(known.map(({ run }) => wanted.filter((more) => more.run === run).length));
  const count = each.size === 1 ? `${[...each][0]} more ${[...each][0] === 1 ? "seed" : "seeds"} of ${runs.length === 2 ? "both" : "each"}` : `${plural(wanted.length, "run")} more`;
  return (
    <div className="seeds" data-testid="seeds">
      <span>
        {twins
          ? "Runs of the same document differ by chance alone; each is shown as it is."
          : one.length === known.length
            ? "One run each: the difference may be chance."
            : one.length
              ? `Run ${one.map(({ run }) => runs.find(({ id }) => id === run)?.number).join(", ")} has only one seed: the difference may be chance.`
              : "Means over seeds; differences with 95 % intervals."}
        {coming > 0 && ` ${plural(coming, "run")} in progress.`}
      </span>
      {!twins && wanted.length > 0 && (
        <WriteButton
          className="btn"
          data-testid="more-seeds"
          disabled={start.isPending}
          title={`Start ${plural(wanted.length, "run")} so that every side has the same seeds`}
          onClick={() => start.mutate()}
        >
          <Icon name="play" />
          Run {count}
        </WriteButton>
      )}
    </div>
  );
}
