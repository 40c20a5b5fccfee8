import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, post, remove } from "../../api/client";
import { isActive, sparkRunQuery, sparkRunsQuery } from "../../api/queries";
import type { Run, SparkComparison, SparkRun } from "../../api/types";
import { latency, percent, plural, short, when } from "../../lib/format";
import { coerceDocument } from "../../model/document/coerce";
import { warmupOf } from "../../model/document/document";
import { sinksOf, stageOf, verdictOf } from "../../model/run/sparkRuns";
import { DeleteButton, WriteButton } from "../../session/may";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { toast } from "../../ui/toasts";
import { Calibration } from "./Calibration";
import { Prediction } from "./Prediction";
import { SparkBatches } from "./SparkBatches";
import { SparkLatencies } from "./SparkLatencies";

const FILES = [5, 10, 20, 50, 100, 200];
const TRIGGERS = [
  { ms: 0, label: "as soon as possible" },
  ...[500, 1000, 2000, 5000, 10_000].map((ms) => ({ ms, label: `every ${latency(ms).join(" ")}` })),
];
const PACED_MAX_S = 900;

/** The run's query on a real Spark, on the same records: its micro-batches as they end, then whether its records are the model's. */
export function OnSpark({ run, id, onShow }: { run: Run; id: string; onShow: (id: string) => void }) {
  const { data: rows, error, refetch } = useQuery(sparkRunsQuery(run.id));
  const [files, setFiles] = useState(20);
  const [paced, setPaced] = useState(false);
  const [trigger_ms, setTrigger] = useState(0);
  const [calibrating, setCalibrating] = useState(false);
  const start = useMutation({
    mutationFn: () => post<SparkRun>(`/api/runs/${run.id}/spark`, paced ? { paced, trigger_ms } : { files }),
    onSuccess: (row) => {
      if (row.note) toast(row.note, { tone: "warn", seconds: 12 });
      void refetch();
      onShow("");
    },
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!rows) return <Loading lines={3} />;
  const shown = rows.find((row) => row.id === id) ?? rows[0];
  const busy = rows.some(isActive);
  const horizon_s = run.horizon_s;
  return (
    <div className="on-spark scroll" tabIndex={0} role="region" aria-label="On Spark" data-testid="on-spark">
      <div className="asks">
        <label title="At the pace of the logs, latencies are measured, and Spark takes as long as the run">
          <span className="mut">Input</span>
          <select className="in" value={paced ? "paced" : "there"} onChange={(event) => setPaced(event.target.value === "paced")}>
            <option value="there">all there at once</option>
            <option value="paced" disabled={horizon_s > PACED_MAX_S}>
              at the pace of the logs{horizon_s > PACED_MAX_S ? ` (up to ${PACED_MAX_S} s)` : ""}
            </option>
          </select>
        </label>
        <label>
          <span className="mut">{paced ? "A micro-batch" : "Micro-batches"}</span>
          {paced ? (
            <select className="in" value={trigger_ms} onChange={(event) => setTrigger(Number(event.target.value))}>
              {TRIGGERS.map(({ ms, label }) => (
                <option key={ms} value={ms}>
                  {label}
                </option>
              ))}
            </select>
          ) : (
            <select className="in" value={files} onChange={(event) => setFiles(Number(event.target.value))}>
              {FILES.map((count) => (
                <option key={count}>{count}</option>
              ))}
            </select>
          )}
        </label>
        <WriteButton
          className={shown ? "btn" : "btn primary"}
          disabled={busy || start.isPending}
          title={busy ? "One execution is in progress; cancel it, or wait" : "The same records as streams of a real Spark, here on the server"}
          onClick={() => start.mutate()}
        >
          <Icon name="play" />
          Execute on Spark
        </WriteButton>
        <button className="btn" title="What micro-batches take on this machine, for predictions" data-testid="calibration" onClick={() => setCalibrating(true)}>
          <Icon name="clock" />
          Calibration
        </button>
        <span className="grow" />
        {rows.length > 1 && shown && (
          <select className="in" aria-label="Execution" value={shown.id} onChange={(event) => onShow(event.target.value)}>
            {rows.map((row) => (
              <option key={row.id} value={row.id}>
                {when(row.created_at)}, {row.state}
              </option>
            ))}
          </select>
        )}
      </div>
      {start.error && <Refusal error={start.error} />}
      {shown ? (
        <Execution key={shown.id} run={run} id={shown.id} onCalibrate={() => setCalibrating(true)} />
      ) : (
        !start.error && (
          <Empty icon="runs" title="Does a real Spark deliver the same records?">
            The query becomes views of Spark SQL, its input becomes streams cut into micro-batches. Afterwards all records are compared with
            the model’s, one by one. On a calibrated machine the model also says beforehand how fast Spark will be.
          </Empty>
        )
      )}
      {calibrating && <Calibration onClose={() => setCalibrating(false)} />}
    </div>
  );
}

/** Why the query cannot be executed on Spark, each reason with its field. */
function Refusal({ error }: { error: Error }) {
  const problems = error instanceof ApiError ? error.problems : [];
  return (
    <div className="why-not plain" role="alert" data-testid="spark-refused">
      <Icon name="warn" small />
      {problems.length ? (
        <ul>
          {problems.map(({ pointer, message }) => (
            <li key={`${pointer} ${message}`}>
              <code>{pointer}</code> {message}
            </li>
          ))}
        </ul>
      ) : (
        <span>{error.message}</span>
      )}
    </div>
  );
}

function Execution({ run, id, onCalibrate }: { run: Run; id: string; onCalibrate: () => void }) {
  const { data: row, error, refetch } = useQuery(sparkRunQuery(run.id, id));
  const [sink, setSink] = useState("");
  const client = useQueryClient();
  const path = `/api/runs/${run.id}/spark/${id}`;
  const change = {
    onSettled: () => client.invalidateQueries({ queryKey: ["spark-runs", run.id] }),
    onError: (failure: Error) => toast(failure.message, { tone: "err" }),
  };
  const cancel = useMutation({ mutationFn: () => post(`${path}/cancel`), ...change });
  const resume = useMutation({ mutationFn: () => post<SparkRun>(`${path}/resume`), ...change });
  const erase = useMutation({ mutationFn: () => remove(path), ...change });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!row) return <Loading lines={3} />;
  const cancelling = cancel.isPending || row.cancel_requested;
  const sinks = sinksOf(row.micro_batches);
  const of = sinks.includes(sink) ? sink : (sinks[0] ?? "");
  const batches = row.micro_batches.filter((batch) => batch.sink === of);
  const latencies = row.paced ? { predicted: row.prediction?.latency ?? null, measured: row.comparison?.latency?.[of] ?? null } : null;
  return (
    <>
      {isActive(row) ? (
        <div className="working" role="status" data-testid="spark-progress">
          <span>{stageOf(row)}</span>
          <progress value={row.progress} max={1} aria-label="Progress" />
          <b>{percent(row.progress)}</b>
          <WriteButton
            className="btn"
            disabled={cancelling}
            title={cancelling ? "It stops with the micro-batch that is under way" : "What is done is kept"}
            onClick={() => cancel.mutate()}
          >
            {cancelling ? "Cancelling" : "Cancel"}
          </WriteButton>
        </div>
      ) : (
        <p className="about" role="status" data-testid="spark-verdict">
          {row.comparison ? (
            <span className={`badge ${row.comparison.equal ? "ok" : "err"}`}>
              <Icon name={row.comparison.equal ? "checkc" : "crossc"} small />
              {verdictOf(row.comparison)}
            </span>
          ) : (
            <span className={`badge ${row.state === "failed" ? "err" : ""}`}>
              <Icon name={row.state === "failed" ? "crossc" : "cross"} small />
              {row.state === "failed" ? row.error : "Cancelled"}
            </span>
          )}
          <span className="grow" />
          {!row.comparison && (
            <WriteButton className="btn" title="Continue from the last checkpoint" disabled={resume.isPending} onClick={() => resume.mutate()}>
              <Icon name="play" />
              Continue
            </WriteButton>
          )}
          <DeleteButton what="this execution" title="Delete" onClick={() => erase.mutate()} />
        </p>
      )}
      {latencies && <SparkLatencies {...latencies} warmup_s={warmupOf(coerceDocument(run.document))} />}
      {row.prediction && <Prediction prediction={row.prediction} paced={row.paced} onCalibrate={onCalibrate} />}
      {row.comparison && <Compared comparison={row.comparison} />}
      {sinks.length > 1 && (
        <div className="seg" role="radiogroup" aria-label="Sink">
          {sinks.map((one) => (
            <label key={one}>
              <input type="radio" name={`sink of ${id}`} checked={one === of} onChange={() => setSink(one)} />
              {one}
            </label>
          ))}
        </div>
      )}
      {batches.length > 0 && (
        <SparkBatches
          batches={batches}
          id={`${id} ${of}`}
          predicted_ms={row.prediction?.predicted?.batch_ms ?? null}
          latencies={latencies}
        />
      )}
    </>
  );
}

function Compared({ comparison }: { comparison: SparkComparison }) {
  const { sinks, records_in, records_per_s, machine } = comparison;
  const differing = Object.entries(sinks).flatMap(([name, { only_model, only_spark }]) => [
    ...only_model.map((record) => ({ name, whose: "model", record })),
    ...only_spark.map((record) => ({ name, whose: "Spark", record })),
  ]);
  return (
    <>
      <table className="table">
        <TableHead columns={["Sink", ofNumbers("Records of the model"), ofNumbers("Records of Spark"), ofNumbers("Different")]} />
        <tbody>
          {Object.entries(sinks).map(([name, one]) => (
            <tr key={name}>
              <td>{name}</td>
              <td className="num">{one.of_model.toLocaleString("en-US")}</td>
              <td className="num">{one.of_spark.toLocaleString("en-US")}</td>
              <td className="num">{one.differing.toLocaleString("en-US")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {differing.length > 0 && (
        <table className="table" data-testid="spark-differences">
          <TableHead columns={["Sink", "Only in", "Record"]} />
          <tbody>
            {differing.map(({ name, whose, record }, at) => (
              <tr key={at}>
                <td>{name}</td>
                <td>{whose}</td>
                <td className="mono">{JSON.stringify(record)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="about mut">
        {plural(records_in, "input record")}, {short(records_per_s)} records/s within micro-batches, on {machine}
      </p>
    </>
  );
}
