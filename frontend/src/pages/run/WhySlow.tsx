import type { Frame, Run } from "../../api/types";
import { slowestIn } from "../../model/run/waterfalls";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { useLiveRun } from "./liveRun";
import { useAsk } from "./useAsk";

/** From the latency at the moment that is held to the slowest records delivered then. */
export function WhySlow({ run, frame, onAsked }: { run: Run; frame: Frame | undefined; onAsked: (id: string) => void }) {
  const held = useLiveRun((state) => state.pinned_s !== null);
  const log = useLiveRun((state) => state.log);
  const ask = useAsk(run.id, onAsked);
  const refusal = useRefusal();
  const why =
    refusal ??
    (run.state !== "succeeded"
      ? "Single records can be traced once the run has succeeded"
      : !held || !frame
        ? "Click in the latency chart first: this asks for the slowest records at that moment"
        : !frame.latency_ms?.count
          ? "No record was delivered at this moment"
          : ask.isPending
            ? "Asking"
            : "");
  return (
    <button
      className="btn ghost why"
      data-testid="why-slow"
      aria-disabled={Boolean(why)}
      title={why || `Where the time of the slowest records delivered up to ${frame?.t_s.toFixed(2)} s went`}
      onClick={() => !why && frame && ask.mutate(slowestIn(frame, frame.n > 0 ? frame.t_s - log.timeOf(frame.n - 1) : frame.t_s))}
    >
      <Icon name="search" small />
      <span className={why ? "vh" : ""}>Slowest here</span>
    </button>
  );
}
