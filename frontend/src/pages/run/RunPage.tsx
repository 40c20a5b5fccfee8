import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useParams } from "react-router";
import { isActive, isMoving, registryQuery } from "../../api/queries";
import type { Frame, Run } from "../../api/types";
import { when } from "../../lib/format";
import { coerceDocument } from "../../model/document/coerce";
import { warmupOf } from "../../model/document/document";
import { deathMarks, faultMarks } from "../../model/document/faults";
import { latenciesOf } from "../../model/document/latencies";
import { isCheckpointed } from "../../model/run/checkpoints";
import { runEvents } from "../../model/run/events";
import { isScaled } from "../../model/run/scaling";
import { useCommands } from "../../session/commands";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";
import { useAddress, useMomentInAddress } from "./address";
import { Diagnosis } from "./Diagnosis";
import { Hosts, weighsMemory } from "./Hosts";
import { RUN_COMMANDS } from "./keys";
import { followRun, momentOf, useLiveRun } from "./liveRun";
import { NoOutput } from "./NoOutput";
import { Rescale, RescaleButton } from "./Rescale";
import { ResultPanel } from "./ResultPanel";
import { RunBar } from "./RunBar";
import { RunTransport } from "./RunTransport";
import { TimeStack } from "./TimeStack";
import { Topology } from "./Topology";
import { Values } from "./Values";
import { ViewTransport } from "./ViewTransport";
import { WhySlow } from "./WhySlow";
import "../../ui/chart/patterns.css";
import "./run.css";

/** The page speaks up about a lost connection after this many tries. */
const QUIET_FAILURES = 6;

/** What stands beside the charts; where there is little room, one at a time. */
const SIDES = ["topology", "hosts", "result"] as const;
type Side = (typeof SIDES)[number];

export function RunPage() {
  const { id = "" } = useParams();
  const run = useLiveRun((state) => state.run);
  const error = useLiveRun((state) => state.error);
  const follower = useRef<ReturnType<typeof followRun> | null>(null);
  useEffect(() => {
    follower.current = followRun(id);
    return () => follower.current?.stop();
  }, [id]);
  if (error)
    return (
      <div className="page on-run">
        <TopBar title="Run" crumb={<b>Run</b>} />
        <Failure error={error} retry={() => window.location.reload()} />
      </div>
    );
  if (!run || run.id !== id)
    return (
      <div className="page on-run">
        <TopBar title="Run" crumb={<b>Run</b>} />
        <Loading />
      </div>
    );
  return <RunView key={id} run={run} tryNow={() => follower.current?.tryNow()} />;
}

function RunView({ run, tryNow }: { run: Run; tryNow: () => void }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const pinned_s = useLiveRun((state) => state.pinned_s);
  const gone = useLiveRun((state) => state.refused?.why === "gone");
  const document = useMemo(() => coerceDocument(run.executed ?? run.document), [run.executed, run.document]);
  const checkpointed = isCheckpointed(document);
  const scaled = isScaled(document);
  const has = useMemo(() => ({ checkpoints: checkpointed, workers: scaled }), [checkpointed, scaled]);
  const [address, change] = useAddress(has);
  const warmup_s = warmupOf(document);
  const head_s = count ? log.timeOf(count - 1) : 0;
  const end_s = Math.max(run.horizon_s ?? 0, Number(document.workload.horizon_s) || 0, head_s) || 30;
  const frame = count ? log.frame(moment_s === null ? count - 1 : Math.min(log.numberAt(moment_s), count - 1)) : undefined;
  const { data: registry } = useQuery(registryQuery);
  const faults = useMemo(() => faultMarks(document, registry?.faults ?? [], end_s), [document, registry, end_s]);
  // The log grows in place; its count says that there is something new.
  const events = useMemo(() => (count >= 0 ? runEvents(run, log, warmup_s, faults) : []), [run, log, count, warmup_s, faults]);
  const marks = useMemo(
    () => [...faults, ...(count ? deathMarks(log.deaths(), end_s) : [])].sort((a, b) => a.start_s - b.start_s),
    [faults, log, count, end_s],
  );
  const latencies = useMemo(() => latenciesOf(document.measurement), [document]);
  const latency = latencies.some(({ name }) => name === address.latency) ? address.latency : "";
  const at = frame ? (moment_s === null && isMoving(run) ? "live" : `at ${frame.t_s.toFixed(2)} s`) : "";
  const [side, setSide] = useState<Side>("topology");
  const [rescaled, setRescaled] = useState<Frame | null>(null); // where a rescale by hand is being chosen
  useEffect(() => {
    if (address.panel) setSide("result");
  }, [address.panel, address.records]);
  useMomentInAddress(count > 0, end_s);
  useCommands("run", RUN_COMMANDS);
  return (
    <div className="page on-run">
      <RunBar run={run} gone={gone} />
      <div className="run" data-testid="run-page">
        <ConnectionBar tryNow={tryNow} />
        {run.state === "failed" && run.error && (
          <div className="bar-note err" role="alert" data-testid="run-error">
            <Icon name="crossc" />
            <span>{run.error}</span>
            <span className="grow" />
            <Link className="btn" to={`/experiments/${run.experiment.id}`}>
              Change the experiment
            </Link>
          </div>
        )}
        <NoOutput run={run} document={document} />
        {isActive(run) && <RunTransport run={run} gone={gone} head_s={head_s} />}
        <Diagnosis
          run={run}
          moment_s={pinned_s}
          frame_s={Number(document.measurement?.frame_ms ?? 250) / 1000}
          onInstances={(of) => change({ panel: "instances", of })}
        />
        <ViewTransport
          run={run}
          gone={gone}
          end_s={end_s}
          events={events}
          charts={address.charts}
          has={has}
          onCharts={(charts) => change({ charts })}
        />
        <Values frame={frame} latency={latency} />
        <div className="main">
          {count || (isActive(run) && !gone) ? (
            <TimeStack
              document={document}
              end_s={end_s}
              warmup_s={warmup_s}
              faults={marks}
              finished={!isActive(run)}
              latencies={latencies}
              settings={address}
              onSettings={change}
              onRescale={setRescaled}
              whySlow={<WhySlow run={run} frame={frame} onAsked={(records) => change({ panel: "records", records, record: 0 })} />}
            />
          ) : (
            <NoFrames run={run} />
          )}
          <div className={`side show-${side}`}>
            <div className="side-tabs seg" role="radiogroup" aria-label="Side panel">
              {SIDES.map((one) => (
                <label key={one}>
                  <input type="radio" name="side" checked={side === one} onChange={() => setSide(one)} />
                  {one.replace(/^./, (c) => c.toUpperCase())}
                </label>
              ))}
            </div>
            <section className="panel p-topology">
              <div className="ph">
                <h2>Topology</h2>
                <span className="mut">{at}</span>
                <div className="lg">
                  <span>
                    <i className="swatch busy" />
                    busy
                  </span>
                  <span>
                    <Icon name="back" small />
                    <i className="swatch blocked" />
                    blocked
                  </span>
                  <span>
                    <i className="swatch idle" />
                    idle
                  </span>
                  {checkpointed && (
                    <span title="Instances wait for barriers; channels whose barrier has arrived are blocked">
                      <Icon name="pause" small className="barred" />
                      aligning
                    </span>
                  )}
                  {scaled && (
                    <span title="Bottleneck according to the last iteration of the policy">
                      <i className="swatch bottleneck" />
                      bottleneck
                    </span>
                  )}
                </div>
              </div>
              <Topology document={document} frame={frame} log={log} onOperator={(of) => change({ panel: "instances", of })} />
            </section>
            <section className="panel p-hosts">
              <div className="ph">
                <h2>Hosts</h2>
                <span className="mut">{at}</span>
                {!scaled && <RescaleButton document={document} onRescale={setRescaled} />}
                <div className="lg mut heads">
                  <span>CPU</span>
                  <span>queue</span>
                  <span>Mbit/s</span>
                  {weighsMemory(document) && <span className="wide">memory</span>}
                  <span className="kill" />
                </div>
              </div>
              <Hosts document={document} frame={frame} faults={marks} run={run} gone={gone} />
            </section>
            <ResultPanel
              run={run}
              gone={gone}
              events={events}
              losses={checkpointed ? marks : null}
              scaled={scaled}
              warmup_s={warmup_s}
              moment_s={pinned_s}
              address={address}
              change={change}
              onRescale={setRescaled}
            />
          </div>
        </div>
      </div>
      {rescaled && <Rescale run={run} document={document} frame={rescaled} onClose={() => setRescaled(null)} />}
    </div>
  );
}

/** A run may end before its first frame: cancelled in the queue, or failed while it was prepared. */
function NoFrames({ run }: { run: Run }) {
  const complete = useLiveRun((state) => state.complete);
  if (run.frames_removed_at)
    return (
      <section className="panel" data-testid="frames-removed">
        <Empty icon="clock" title={`The frames of this run were removed on ${when(run.frames_removed_at)}`}>
          The lab keeps frames for a limited time, and summaries permanently. Run again, above, restores them bit for bit: the same
          document and seed on engine version {run.engine_version}. A tag or a note keeps the frames of a run.
        </Empty>
      </section>
    );
  if (!complete && run.frames) return <section className="panel">{<Loading />}</section>;
  const title = { failed: "The run failed before its first frame", cancelled: "The run was cancelled before its first frame" }[run.state as string];
  return (
    <section className="panel">
      <Empty
        icon="runs"
        title={title ?? "No frame was recorded"}
        action={
          <Link className="btn" to={`/experiments/${run.experiment.id}`}>
            <Icon name="canvas" />
            Open experiment
          </Link>
        }
      >
        {run.state === "failed" ? "See the reason above. Change the experiment, or run it again." : "Run it again to get results."}
      </Empty>
    </section>
  );
}

const REFUSALS: Record<string, string> = {
  "signed-out": "You are no longer signed in. The charts keep their data: sign in in another tab, then try again.",
  gone: "This run was deleted. The charts keep their data until you leave the page.",
};

function ConnectionBar({ tryNow }: { tryNow: () => void }) {
  const failures = useLiveRun((state) => state.failures);
  const retryIn_s = useLiveRun((state) => state.retryIn_s);
  const [left_s, setLeft] = useState(0);
  useEffect(() => {
    setLeft(retryIn_s ?? 0);
    const timer = setInterval(() => setLeft((now) => Math.max(0, now - 1)), 1000);
    return () => clearInterval(timer);
  }, [retryIn_s, failures]);
  const refused = useLiveRun((state) => state.refused);
  if (refused)
    return (
      <div className="bar-note" role="alert" data-testid="refused">
        <Icon name={refused.why === "signed-out" ? "lock" : "warn"} />
        <span>{REFUSALS[refused.why] ?? refused.reason}</span>
        <span className="grow" />
        {refused.why === "gone" ? (
          <Link className="btn" to="/runs">
            Back to runs
          </Link>
        ) : (
          <button className="btn" onClick={tryNow}>
            Try again
          </button>
        )}
      </div>
    );
  if (failures <= QUIET_FAILURES) return null;
  return (
    <div className="bar-note" role="alert" data-testid="connection-lost">
      <Icon name="warn" />
      <span>The live connection is lost. The charts keep their data; retrying{left_s > 1 ? ` in ${left_s} s` : ""}.</span>
      <span className="grow" />
      <button className="btn" onClick={tryNow}>
        Try now
      </button>
    </div>
  );
}

