import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client";
import { calibrationQuery, isActive } from "../../api/queries";
import type { CalibratedMachine, CalibrationJob } from "../../api/types";
import { percent } from "../../lib/format";
import { calibrationStage } from "../../model/run/predictions";
import { WriteButton } from "../../session/may";
import { Remark } from "../../ui/Credentials";
import { Dialog } from "../../ui/Dialog";
import { Failure, Loading } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { toast } from "../../ui/toasts";

/** What micro-batches take on the machine of the analysis worker: measured now, and what was measured last. */
export function Calibration({ onClose }: { onClose: () => void }) {
  const { data, error, refetch } = useQuery(calibrationQuery);
  const [thoughBusy, setThoughBusy] = useState(false);
  const change = { onSettled: () => void refetch(), onError: (failed: Error) => toast(failed.message, { tone: "err" }) };
  const start = useMutation({
    mutationFn: () => post<CalibrationJob>("/api/spark/calibration", { though_busy: thoughBusy }),
    onSuccess: ({ note }) => note && toast(note, { tone: "warn", seconds: 12 }),
    ...change,
  });
  const cancel = useMutation({ mutationFn: (id: string) => post(`/api/spark/calibration/${id}/cancel`), ...change });
  const job = data?.job;
  const active = job && isActive(job);
  return (
    <Dialog
      title="Calibration of this machine"
      wide
      onClose={onClose}
      footer={
        <>
          {!active && (
            <label className="check grow">
              <input type="checkbox" checked={thoughBusy} onChange={({ target }) => setThoughBusy(target.checked)} />
              Also while other processes are at work
            </label>
          )}
          <WriteButton
            className={data?.machine ? "btn" : "btn primary"}
            disabled={!data || Boolean(active) || start.isPending}
            title={active ? "A measurement is in progress" : "About ten minutes; analyses and executions on Spark wait meanwhile"}
            onClick={() => start.mutate()}
          >
            {data?.machine ? "Calibrate again" : "Calibrate"}
          </WriteButton>
        </>
      }
    >
      <div className="stack calibration" data-testid="calibration-state">
        <p className="mut small">
          Small queries on Spark measure what planning, commits and records take here. With that, the model predicts how fast a query will
          be before Spark executes it. It takes about ten minutes of a machine without other work.
        </p>
        {error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : !data ? (
          <Loading lines={3} />
        ) : (
          <>
            {active && (
              <div className="working" role="status">
                <span>{calibrationStage(job)}</span>
                <progress value={job.progress} max={1} aria-label="Progress" />
                <b>{percent(job.progress)}</b>
                <WriteButton className="btn" disabled={job.cancel_requested || cancel.isPending} title="What was measured before stays" onClick={() => cancel.mutate(job.id)}>
                  {job.cancel_requested ? "Cancelling" : "Cancel"}
                </WriteButton>
              </div>
            )}
            {job?.state === "failed" && <Remark text={`The last calibration failed: ${job.error}`} />}
            {data.problem && <Remark text={data.problem} />}
            {data.machine ? <Machine machine={data.machine} /> : !active && <p>This machine is not calibrated yet.</p>}
          </>
        )}
      </div>
    </Dialog>
  );
}

const OVERHEADS: Record<string, string> = {
  plan_ms: "Planning, each source",
  stage_ms: "A stage",
  task_ms: "Starting a task",
  commit_ms: "Commit",
};

/** A dash where nothing could be told from noise. */
const timed = (value: number, unit: string, digits: number) => (value ? `${value.toFixed(digits)} ${unit}` : "–");

function Machine({ machine }: { machine: CalibratedMachine }) {
  const { made, cores, spark, busy, overheads_ms, prices, measured } = machine;
  return (
    <>
      <p>
        {machine.machine}; Spark {spark}; calibrated on {made}. {busy > 0.1 ? `Other processes used ${percent(busy)} of the machine meanwhile, so prices are too high.` : ""}
      </p>
      <table className="table">
        <TableHead columns={["Of a micro-batch", ofNumbers("Takes")]} />
        <tbody>
          {Object.entries(overheads_ms).map(([name, ms]) => (
            <tr key={name}>
              <td>{OVERHEADS[name] ?? name}</td>
              <td className="num">{timed(ms, "ms", 1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <table className="table">
        <TableHead columns={["Operator", ofNumbers("A record"), ofNumbers("A result"), ofNumbers("A commit of state")]} />
        <tbody>
          {prices.map(({ kind, record_us, output_us, control_us }) => (
            <tr key={kind}>
              <td>{kind}</td>
              <td className="num">{timed(record_us, "µs", 2)}</td>
              <td className="num">{timed(output_us, "µs", 2)}</td>
              <td className="num">{timed(control_us / 1000, "ms", 1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <details>
        <summary>
          Measured with {measured.length} queries on {cores} cores
        </summary>
        <table className="table">
          <TableHead columns={["Query", ofNumbers("Records"), ofNumbers("Planning"), ofNumbers("Work"), ofNumbers("Spread"), ofNumbers("Commit")]} />
          <tbody>
            {measured.map(({ query, records, planning_ms, work_ms, spread, commit_ms }) => (
              <tr key={query}>
                <td>{query}</td>
                <td className="num">{records.toLocaleString("en-US")}</td>
                <td className="num">{planning_ms.toFixed(0)} ms</td>
                <td className="num">{work_ms.toFixed(0)} ms</td>
                <td className="num">{percent(spread)}</td>
                <td className="num">{commit_ms.toFixed(0)} ms</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
