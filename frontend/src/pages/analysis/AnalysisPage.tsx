import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { post } from "../../api/client";
import { takeAnalysis } from "../../api/news";
import { analysisQuery, ANSWER_ROWS_MAX, isActive } from "../../api/queries";
import type { Analysis, AnalysisDetail } from "../../api/types";
import { duration, plural, tookText } from "../../lib/format";
import { KIND_WORDS, questionText, spanText } from "../../model/run/analysis";
import { stageOf } from "../../model/run/asking";
import { WriteButton } from "../../session/may";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading, StateBadge } from "../../ui/states";
import { toast } from "../../ui/toasts";
import { Track } from "../../ui/Track";
import { TopBar } from "../../ui/TopBar";
import { AnswerPanel } from "./AnswerPanel";
import { PooledTable } from "./PooledTable";
import "./analysis.css";

/** One question about many runs: how far its answer is, and the answer. */
export function AnalysisPage() {
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(analysisQuery(id));
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => post<Analysis>(`/api/spark/jobs/${id}/cancel`),
    onSuccess: (analysis) => takeAnalysis(client, analysis),
    onError: (problem) => toast(problem.message, { tone: "err" }),
  });
  const active = data && isActive(data);
  return (
    <div className="page on-analysis">
      <TopBar
        title={data ? KIND_WORDS[data.kind].title : "Analysis"}
        crumb={
          <>
            <Link to="/analysis">Analysis</Link>
            {data && (
              <>
                <span>/</span>
                <b>{KIND_WORDS[data.kind].title}</b>
              </>
            )}
          </>
        }
        actions={
          active && (
            <WriteButton
              className="btn"
              disabled={data.cancel_requested}
              title={data.cancel_requested ? "Cancelling" : "Runs read so far are kept for later questions"}
              onClick={() => cancel.mutate()}
            >
              <Icon name="cross" />
              Cancel
            </WriteButton>
          )
        }
      />
      {data ? <Opened analysis={data} /> : error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
    </div>
  );
}

function Opened({ analysis }: { analysis: AnalysisDetail }) {
  const { answer, question, state, error } = analysis;
  return (
    <div className="analysis" data-testid="analysis">
      {error && (
        <div className="bar-note err" data-testid="analysis-error">
          <Icon name="crossc" />
          <span>{error}</span>
        </div>
      )}
      <header className="analysis-head">
        <div>
          <p className="mut small">{KIND_WORDS[analysis.kind].about}</p>
          <h1>{questionText(question)}</h1>
        </div>
        <StateBadge state={state} />
      </header>
      <dl className="facts">
        <Fact term="Runs" value={analysis.runs?.toLocaleString("en-US") ?? "–"} more={readText(analysis)} />
        <Fact term="Span" value={spanText(question.span)} more="" />
        {answer && answer.left_out_count > 0 && (
          <Fact
            term="Skipped"
            value={String(answer.left_out_count)}
            more={`#${answer.left_out[0]?.number}: ${answer.left_out[0]?.why}`}
          />
        )}
        {answer && <Fact term="Took" value={tookText(analysis) ?? duration(answer.took_s)} more="" />}
      </dl>
      {answer ? (
        <div className={`analysis-main ${answer.pooled.length ? "" : "alone"}`}>
          <AnswerPanel kind={analysis.kind} answer={answer} />
          {answer.pooled.length > 0 && <PooledTable kind={analysis.kind} pooled={answer.pooled} />}
          {analysis.count > ANSWER_ROWS_MAX && (
            <p className="note">
              The first {plural(ANSWER_ROWS_MAX, "row")} of {analysis.count.toLocaleString("en-US")} are shown; GET /api/spark/jobs/{analysis.id} returns all.
            </p>
          )}
        </div>
      ) : isActive(analysis) ? (
        <UnderWay analysis={analysis} />
      ) : (
        <Empty
          icon="crossc"
          title={state === "cancelled" ? "Cancelled" : "No answer"}
          action={
            <Link className="btn" to={`/analysis?ask=${analysis.kind}&again=${analysis.id}`}>
              <Icon name="rerun" />
              Ask again
            </Link>
          }
        >
          {state === "cancelled" ? "Data read so far is kept." : "Fix the problem above, and ask again."}
        </Empty>
      )}
    </div>
  );
}

/** What the job does now, and how far it is. */
function UnderWay({ analysis }: { analysis: AnalysisDetail }) {
  if (analysis.state === "queued")
    return (
      <Empty icon="clock" title="Waiting for the analysis worker">
        The answer appears here automatically.
      </Empty>
    );
  const { title, share } = stageOf(analysis);
  const starting = share === 0 && Boolean(analysis.read);
  return (
    <Empty
      icon="clock"
      title={title}
      action={share !== null && <Track share={share} label="New runs read" />}
    >
      {analysis.cancel_requested
        ? "Cancelling; it stops after the runs that are being read."
        : starting
          ? "The first question takes a few seconds longer, because Spark starts with it."
          : "Each run is read once; a later question reuses what is read here."}
    </Empty>
  );
}

const readText = ({ runs, read, state }: AnalysisDetail) =>
  read === null || state !== "succeeded" ? "" : read === runs ? "all newly read" : read === 0 ? "all read before" : `${read.toLocaleString("en-US")} newly read, the others before`;

function Fact({ term, value, more }: { term: string; value: string; more: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd title={more}>
        <b>{value}</b> <span>{more}</span>
      </dd>
    </div>
  );
}
