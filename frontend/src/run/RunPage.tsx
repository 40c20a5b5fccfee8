import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { post } from "../api/client";
import { isActive, registryQuery } from "../api/queries";
import type { Run } from "../api/types";
import { TopBar } from "../app/TopBar";
import { coerceDocument, warmupOf } from "../model/document";
import { runEvents } from "../model/events";
import { deathMarks, faultMarks } from "../model/faults";
import { frameAt } from "../model/frames";
import { latenciesOf } from "../model/latencies";
import { withLatency } from "../model/series";
import { Icon } from "../ui/Icon";
import { Empty, Failure, Loading, StateBadge } from "../ui/states";
import { toast } from "../ui/toasts";
import { Events } from "./Events";
import { Hosts, weighsMemory } from "./Hosts";
import { followRun, momentOf, useLiveRun } from "./liveRun";
import { Summary } from "./Summary";
import { TimeStack } from "./TimeStack";
import { Topology } from "./Topology";
import { Transport } from "./Transport";
import { Values } from "./Values";
import "./run.css";

/** The page speaks up about a lost connection after this many tries. */
const QUIET_FAILURES = 6;

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
      <div className="page">
        <TopBar title="Run" crumb={<b>Run</b>} />
        <Failure error={error} />
      </div>
    );
  if (!run || run.id !== id)
    return (
      <div className="page">
        <TopBar title="Run" crumb={<b>Run</b>} />
        <Loading />
      </div>
    );
  return <RunView key={id} run={run} tryNow={() => follower.current?.tryNow()} />;
}

function RunView({ run, tryNow }: { run: Run; tryNow: () => void }) {
  const frames = useLiveRun((state) => state.log.frames);
  const moment_s = useLiveRun(momentOf);
  const document = useMemo(() => coerceDocument(run.document), [run.document]);
  const warmup_s = warmupOf(document);
  const head_s = frames.at(-1)?.t_s ?? 0;
  const end_s = Math.max(run.horizon_s ?? 0, Number(document.workload.horizon_s) || 0, head_s) || 30;
  const frame = moment_s === null ? frames.at(-1) : frameAt(frames, moment_s);
  const { data: registry } = useQuery(registryQuery);
  const faults = useMemo(() => faultMarks(document, registry?.faults ?? [], end_s), [document, registry, end_s]);
  const events = useMemo(() => runEvents(run, frames, warmup_s, faults), [run, frames, warmup_s, faults]);
  const marks = useMemo(
    () => [...faults, ...deathMarks(frames, end_s)].sort((a, b) => a.start_s - b.start_s),
    [faults, frames, end_s],
  );
  const latencies = latenciesOf(document.measurement);
  const [latency, setLatency] = useState("");
  const shown = useMemo(() => withLatency(frames, latency), [frames, latency]);
  const shownFrame = frame && shown[frames.indexOf(frame)];
  const at = frame ? (moment_s === null && isActive(run) ? "live" : `at ${frame.t_s.toFixed(2)} s`) : "";
  const [side, setSide] = useState<"topology" | "hosts" | "events">("topology");
  useMomentInUrl(frames.length > 0);
  return (
    <div className="page">
      <RunBar run={run} />
      <div className="run" data-testid="run-page">
        <ConnectionBar tryNow={tryNow} />
        {run.state === "failed" && run.error && (
          <div className="bar-note err" role="alert" data-testid="run-error">
            <Icon name="crossc" />
            <span>{run.error}</span>
          </div>
        )}
        <Transport run={run} frames={frames} end_s={end_s} events={events} />
        <Values frames={shown} frame={shownFrame} />
        <div className="main">
          {frames.length || isActive(run) ? (
            <TimeStack
              frames={shown}
              end_s={end_s}
              warmup_s={warmup_s}
              faults={marks}
              finished={!isActive(run)}
              definition={latencies.find(({ name }) => name === latency)?.definition ?? ""}
              latencies={latencies.map(({ name }) => name)}
              latency={latency}
              onLatency={setLatency}
            />
          ) : (
            <section className="panel">
              <Empty icon="runs" title={run.state === "failed" ? "The run failed before its first frame" : "No frame was recorded"} />
            </section>
          )}
          <div className={`side show-${side}`}>
            <div className="side-tabs seg" role="radiogroup" aria-label="Side panel">
              {(["topology", "hosts", "events"] as const).map((one) => (
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
                </div>
              </div>
              <Topology document={document} frame={frame} />
            </section>
            <section className="panel p-hosts">
              <div className="ph">
                <h2>Hosts</h2>
                <span className="mut">{at}</span>
                <div className="lg mut heads">
                  <span>CPU</span>
                  <span>queue</span>
                  <span>Mbit/s</span>
                  {weighsMemory(document) && <span className="wide">memory</span>}
                </div>
              </div>
              <Hosts document={document} frame={frame} faults={marks} />
            </section>
            <section className="panel p-events">
              {run.summary ? (
                <Summary run={run} events={events} />
              ) : (
                <>
                  <div className="ph">
                    <h2>Events</h2>
                    <span className="mut">{events.length}</span>
                  </div>
                  <Events events={events} />
                </>
              )}
            </section>
          </div>
        </div>
      </div>
    </div>
  );
}

function RunBar({ run }: { run: Run }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const active = isActive(run);
  const cancel = useMutation({
    mutationFn: () => post(`/api/runs/${run.id}/cancel`),
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const rerun = useMutation({
    mutationFn: () => post<Run>(`/api/runs/${run.id}/rerun`, {}),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ["runs"] });
      void navigate(`/runs/${made.id}`);
    },
    onError: (error) => toast(error.message, { tone: "err" }),
  });
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
        </>
      }
      actions={
        <>
          <Link className="btn" to={`/experiments/${run.experiment.id}`}>
            <Icon name="canvas" />
            Open experiment
          </Link>
          <button
            className="btn"
            data-testid="rerun"
            disabled={rerun.isPending}
            title={active ? "Start the same document and seed once more, beside this run" : "Run the same document and seed again"}
            onClick={() => rerun.mutate()}
          >
            <Icon name="rerun" />
            Run again
          </button>
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
}

function ConnectionBar({ tryNow }: { tryNow: () => void }) {
  const failures = useLiveRun((state) => state.failures);
  const retryIn_s = useLiveRun((state) => state.retryIn_s);
  const [left_s, setLeft] = useState(0);
  useEffect(() => {
    setLeft(retryIn_s ?? 0);
    const timer = setInterval(() => setLeft((now) => Math.max(0, now - 1)), 1000);
    return () => clearInterval(timer);
  }, [retryIn_s, failures]);
  if (failures <= QUIET_FAILURES) return null;
  return (
    <div className="bar-note" role="alert" data-testid="connection-lost">
      <Icon name="warn" />
      <span>The live connection is lost. The charts keep what they have; trying again{left_s > 1 ? ` in ${left_s} s` : ""}.</span>
      <span className="grow" />
      <button className="btn" onClick={tryNow}>
        Try now
      </button>
    </div>
  );
}

/** A held moment is part of the address: `?t=12.5`. */
function useMomentInUrl(ready: boolean): void {
  const [params, setParams] = useSearchParams();
  const pinned = useLiveRun((state) => state.pinned_s);
  const read = useRef(false);
  useEffect(() => {
    if (!ready || read.current) return;
    read.current = true;
    const t_s = Number(params.get("t"));
    if (params.has("t") && Number.isFinite(t_s)) useLiveRun.setState({ pinned_s: t_s });
  }, [ready, params]);
  useEffect(() => {
    if (!read.current || (params.get("t") ?? "") === (pinned === null ? "" : String(pinned))) return;
    setParams(pinned === null ? {} : { t: String(pinned) }, { replace: true });
  }, [pinned, params, setParams]);
}
