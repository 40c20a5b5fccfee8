import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, post } from "../../api/client";
import { answerQuery, isActive, questionsQuery } from "../../api/queries";
import type { Question, Run, Waterfall } from "../../api/types";
import { latency, percent } from "../../lib/format";
import { partOf } from "../../model/run/parts";
import { inWords, partSums, rowsOf, sampleOf, SLOWEST } from "../../model/run/waterfalls";
import { WriteButton } from "../../session/may";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { toast } from "../../ui/toasts";
import type { Address } from "./address";
import { useAsk } from "./useAsk";

const time = (ns: number) => latency(Math.abs(ns) / 1e6).join(" ");

/** Single records of a run that succeeded: the slowest, a sample, those of a moment; and where the time of each went. */
export function Records({ run, address, change }: { run: Run; address: Address; change: (changes: Partial<Address>) => void }) {
  const succeeded = run.state === "succeeded";
  const { data: questions } = useQuery(questionsQuery(run.id, succeeded));
  const asked = address.records || questions?.[0]?.id || "";
  const ask = useAsk(run.id, (id) => change({ records: id, record: 0 }));
  if (!succeeded)
    return (
      <Empty icon="search" title={isActive(run) ? "Available when the run has ended" : "Only succeeded runs can be traced"}>
        Records are traced by running again: the same document and seed give the same records.
      </Empty>
    );
  const asking = ask.isPending ? "Sending the question" : "";
  return (
    <div className="records" data-testid="records">
      <div className="asks">
        <WriteButton className="btn" disabled={ask.isPending} title={asking} onClick={() => ask.mutate({ slowest: SLOWEST })} data-testid="ask-slowest">
          {SLOWEST} slowest
        </WriteButton>
        <WriteButton className="btn" disabled={ask.isPending} title={asking} onClick={() => ask.mutate(sampleOf(run))} data-testid="ask-sample">
          Sample
        </WriteButton>
        {questions && questions.length > 0 && (
          <label className="in">
            <select aria-label="Question" value={asked} onChange={(event) => change({ records: event.target.value, record: 0 })}>
              {questions.map((one) => (
                <option key={one.id} value={one.id}>
                  {inWords(one)}
                  {one.state === "succeeded" ? "" : `, ${one.state}`}
                </option>
              ))}
            </select>
            <Icon name="down" />
          </label>
        )}
      </div>
      {asked ? (
        <Answer
          key={asked}
          run={run}
          id={asked}
          record={address.record}
          onRecord={(record) => change({ record })}
          onAsked={(id) => change({ records: id, record: 0 })}
        />
      ) : (
        <Empty icon="search" title="Where did the time of a record go?">
          Ask for the slowest records or for a sample. Or click in the latency chart and choose “Slowest here”.
        </Empty>
      )}
    </div>
  );
}

function Answer({
  run,
  id,
  record,
  onRecord,
  onAsked,
}: {
  run: Run;
  id: string;
  record: number;
  onRecord: (record: number) => void;
  onAsked: (id: string) => void;
}) {
  const { data, error, refetch } = useQuery(answerQuery(run.id, id));
  const client = useQueryClient();
  const again = useAsk(run.id, onAsked);
  const cancel = useMutation({
    mutationFn: () => post(`/api/runs/${run.id}/waterfalls/${id}/cancel`),
    onSettled: () => client.invalidateQueries({ queryKey: ["waterfalls", run.id] }),
    onError: (failure) => toast(failure.message, { tone: "err" }),
  });
  if (error)
    return error instanceof ApiError && error.status === 404 ? (
      <Empty icon="search" title="This question no longer exists">
        {error.message}
      </Empty>
    ) : (
      <Failure error={error} retry={() => void refetch()} />
    );
  if (!data) return <Loading lines={3} />;
  const cancelling = cancel.isPending || data.cancel_requested;
  if (isActive(data)) return <Progress question={data} cancelling={cancelling} onCancel={() => cancel.mutate()} />;
  if (data.state !== "succeeded")
    return (
      <Empty
        icon={data.state === "failed" ? "crossc" : "cross"}
        title={data.state === "failed" ? "This question failed" : "Cancelled"}
        action={
          <WriteButton className="btn" onClick={() => again.mutate(data.selection)}>
            <Icon name="rerun" />
            Ask again
          </WriteButton>
        }
      >
        {data.error ?? "The worker stopped before it found the records."}
      </Empty>
    );
  const waterfalls = data.waterfalls ?? [];
  const shown = waterfalls[Math.min(record, waterfalls.length - 1)];
  if (!shown) return <Empty icon="info" title="No record was delivered then" />;
  return (
    <>
      <RecordList waterfalls={waterfalls} shown={shown} onRecord={onRecord} />
      <Path waterfall={shown} />
    </>
  );
}

function Progress({ question, cancelling, onCancel }: { question: Question; cancelling: boolean; onCancel: () => void }) {
  return (
    <div className="working" role="status" data-testid="records-progress">
      <span>{question.state === "queued" ? "Waiting for a worker" : "Running again to trace the records"}</span>
      <progress value={question.progress} max={1} aria-label="Progress" />
      <b>{percent(question.progress)}</b>
      <WriteButton className="btn" disabled={cancelling} title={cancelling ? "The worker stops within a second" : ""} onClick={onCancel}>
        {cancelling ? "Cancelling" : "Cancel"}
      </WriteButton>
    </div>
  );
}

/** All records of an answer, each with its time as a bar. */
function RecordList({ waterfalls, shown, onRecord }: { waterfalls: Waterfall[]; shown: Waterfall; onRecord: (record: number) => void }) {
  const longest_ns = Math.max(1, ...waterfalls.map((one) => one.latency_ns));
  return (
    <ul className="found scroll" aria-label="Records, by delivery">
      {waterfalls.map((one, at) => (
        <li key={at}>
          <button className={one === shown ? "on" : ""} aria-pressed={one === shown} onClick={() => onRecord(at)}>
            <time>{(one.end_ns / 1e9).toFixed(3)} s</time>
            <span className="ell" title={`Delivered by ${one.sink} ${one.instance}, caused by input record ${one.trigger}`}>
              {one.sink} {one.instance}
            </span>
            <span className="sums" style={{ width: `${(100 * one.latency_ns) / longest_ns}%` }}>
              {partSums(one).map(({ part, ns }) => (
                <i key={part} className={`pat ${partOf(part).pattern}`} style={colourOf(part, ns)} />
              ))}
            </span>
            <b>{time(one.latency_ns)}</b>
          </button>
        </li>
      ))}
    </ul>
  );
}

const colourOf = (part: string, grow?: number) =>
  ({ "--of": `var(${partOf(part).token})`, ...(grow === undefined ? {} : { flexGrow: Math.max(0, grow) }) }) as React.CSSProperties;

/** The path of one record: what it met, one below the other, over its latency; or the same as numbers. */
function Path({ waterfall }: { waterfall: Waterfall }) {
  const [table, setTable] = useState(false);
  const rows = rowsOf(waterfall);
  return (
    <section className="path" data-testid="waterfall" aria-label="Path of the record">
      <div className="ph">
        <h3>{time(waterfall.latency_ns)}</h3>
        <span className="mut">
          to its delivery at {(waterfall.end_ns / 1e9).toFixed(4)} s by {waterfall.sink} {waterfall.instance}
        </span>
        <span className="grow" />
        <button
          className="btn ghost icon mini"
          title={table ? "Show the waterfall" : "Show as a table"}
          aria-label={`Path: ${table ? "waterfall" : "table"}`}
          aria-pressed={table}
          onClick={() => setTable(!table)}
        >
          <Icon name={table ? "compare" : "table"} small />
        </button>
      </div>
      {!table && (
        <div className="lg keys-of">
          {partSums(waterfall).map(({ part, ns }) => (
            <span key={part} title={partOf(part).means}>
              <i className={`swatch pat ${partOf(part).pattern}`} style={colourOf(part)} />
              {partOf(part).label} <b>{time(ns)}</b>
            </span>
          ))}
        </div>
      )}
      <div className="scroll rows-of" tabIndex={0}>
        {table ? (
          <table className="table">
            <TableHead columns={["Operator", "Part", ofNumbers("From"), ofNumbers("Took"), ofNumbers("Share")]} />
            <tbody>
              {rows.map((row) => (
                <tr key={row.key}>
                  <td>{row.where}</td>
                  <td title={partOf(row.part).means}>{partOf(row.part).label}</td>
                  <td className="num">{time(row.start_ns)}</td>
                  <td className="num">{time(row.length_ns)}</td>
                  <td className="num">{percent(row.width)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <ol>
            {rows.map((row) => (
              <li key={row.key} title={`${row.where}: ${partOf(row.part).label} ${time(row.length_ns)}, ${partOf(row.part).means}`}>
                <span className="ell">{row.where}</span>
                <span className="ell mut">{partOf(row.part).label}</span>
                <span className="lane">
                  <i
                    className={`pat ${partOf(row.part).pattern}`}
                    style={{ ...colourOf(row.part), left: `${100 * row.left}%`, width: `max(1px, ${100 * row.width}%)` }}
                  />
                </span>
                <span className="num">{time(row.length_ns)}</span>
              </li>
            ))}
          </ol>
        )}
      </div>
    </section>
  );
}
