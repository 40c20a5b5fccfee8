import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { post } from "../../api/client";
import type { Run } from "../../api/types";
import { duration, plural } from "../../lib/format";
import { framesIn, goingOf, paceIn, PACES, paceRefusal, paceText, pauseRefusal, stepRefusal, type Going } from "../../model/run/pace";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";
import { makeFrames, pauseOrResume, setPace, useStepFrames } from "./engine";
import { WallTime } from "./WallTime";

/** The run itself, for everybody who watches it: its state in words, pause, step, pace, cancel. `ViewTransport` moves the view alone. */
export function RunTransport({ run, gone, head_s }: { run: Run; gone: boolean; head_s: number }) {
  const going = goingOf(run);
  const paused = going === "paused";
  const refusal = useRefusal();
  const deleted = gone ? "The run was deleted." : refusal;
  const pausing = deleted ?? pauseRefusal(run);
  return (
    <section className="engine" aria-label="Run controls" data-testid="engine">
      <h2 title="These controls affect the run for everyone. They do not change the result.">Run</h2>
      <span className="says" data-testid="engine-says">
        <span role="status">
          <Says run={run} going={going} />
        </span>
        {paused && run.paused_at && <Since at={run.paused_at} />}
      </span>
      <button
        className={`btn ${paused ? "primary" : ""}`}
        data-testid="engine-pause"
        disabled={pausing !== null}
        title={pausing ?? (paused ? "Resume the engine (P)" : "Pause the engine for everyone; nothing is lost (P)")}
        onClick={pauseOrResume}
      >
        <Icon name={paused ? "play" : "pause"} />
        {paused ? "Resume run" : going === "pausing" ? "Pausing" : "Pause run"}
        <kbd>P</kbd>
      </button>
      <Step refusal={deleted ?? stepRefusal(run)} />
      <Pace pace={run.pace} refusal={deleted ?? paceRefusal(run)} />
      <WallTime run={run} head_s={head_s} />
      <Cancel run={run} refusal={deleted} />
    </section>
  );
}

function Cancel({ run, refusal }: { run: Run; refusal: string | null }) {
  const cancel = useMutation({
    mutationFn: () => post(`/api/runs/${run.id}/cancel`),
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const cancelling = cancel.isPending || cancel.isSuccess || run.cancel_requested === true;
  return (
    <button
      className="btn danger"
      data-testid="cancel"
      disabled={refusal !== null || cancelling}
      title={refusal ?? (cancelling ? "The worker stops within a second" : "Stop this run for everyone; its frames are kept")}
      onClick={() => cancel.mutate()}
    >
      <Icon name="stop" />
      {cancelling ? "Cancelling" : "Cancel run"}
    </button>
  );
}

function Step({ refusal }: { refusal: string | null }) {
  const text = useStepFrames((state) => state.frames);
  const frames = framesIn(text);
  const why = refusal ?? (frames === null ? "A step runs 1 to 100,000 frames." : null);
  return (
    <form
      className="step"
      onSubmit={(event) => {
        event.preventDefault();
        if (why === null && frames) makeFrames(frames);
      }}
    >
      <button
        className="btn"
        data-testid="engine-step"
        disabled={why !== null}
        title={why ?? `Run ${plural(frames ?? 1, "frame")}, then pause again (S)`}
      >
        <Icon name="step" />
        Step
        <kbd>S</kbd>
      </button>
      <label className={`in ${frames === null ? "err" : ""}`} title="Frames per step">
        <input
          inputMode="numeric"
          aria-label="Frames per step"
          value={text}
          onChange={(event) => useStepFrames.setState({ frames: event.target.value })}
        />
        <span>{frames === 1 ? "frame" : "frames"}</span>
      </label>
    </form>
  );
}

function Pace({ pace, refusal }: { pace: number | null; refusal: string | null }) {
  const [typed, setTyped] = useState<string | null>(null);
  const read = typed === null ? null : paceIn(typed);
  const problem = read && "problem" in read ? read.problem : "";
  const apply = () => {
    if (read && "pace" in read && read.pace !== pace) setPace(read.pace);
    if (!problem) setTyped(null);
  };
  return (
    <fieldset className="pace" disabled={refusal !== null} title={refusal ?? "Limit on virtual seconds per second"}>
      <legend>Pace</legend>
      <span className="seg">
        {PACES.map((one) => (
          <label key={one} title={refusal ?? paceText(one)}>
            <input type="radio" name="pace" checked={pace === one} onChange={() => setPace(one)} aria-label={paceText(one)} />
            {one === null ? "max" : `${one} ×`}
          </label>
        ))}
      </span>
      <label className={`in ${problem ? "err" : ""}`} title={problem || (refusal ?? "Any other pace, 0.1 to 1,000; press Enter to set it")}>
        <input
          inputMode="decimal"
          aria-label="Another pace"
          aria-invalid={Boolean(problem)}
          value={typed ?? (PACES.includes(pace) ? "" : String(pace))}
          placeholder="other"
          onChange={(event) => setTyped(event.target.value)}
          onBlur={() => (typed === "" ? setTyped(null) : apply())}
          onKeyDown={(event) => {
            if (event.key === "Enter" && typed) apply();
            if (event.key === "Escape") setTyped(null);
          }}
        />
        <span>×</span>
      </label>
    </fieldset>
  );
}

/** The state of the run, in words. */
function Says({ run, going }: { run: Run; going: Going }) {
  const frames = run.frames ?? 0;
  if (going === "paused")
    return (
      <>
        <b>Paused</b> after {plural(frames, "frame")}
      </>
    );
  if (going === "pausing") return <>Pausing</>;
  if (going === "cancelling") return <>Cancelling</>;
  const where = run.state === "queued" ? "Waiting for a worker" : "Running";
  if (going === "stepping") return <>{`${where}, to frame ${run.hold_at_frame?.toLocaleString("en-US")}`}</>;
  return <>{`${where}, ${paceText(run.pace)}`}</>;
}

function Since({ at }: { at: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <>, for {duration(Math.max(0, Math.floor((now - Date.parse(at)) / 1000))).replace(".0", "")}</>;
}
