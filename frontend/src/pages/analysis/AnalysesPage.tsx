import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { KINDS, type AnalysisKind } from "../../api/analysis";
import { ANALYSES_PER_PAGE, analysesQuery, analysisQuery, isActive } from "../../api/queries";
import type { Analysis, SparkState } from "../../api/types";
import { tookText, when } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { KIND_WORDS, questionText, spanText } from "../../model/run/analysis";
import { ASKED_IN_ADDRESS, fieldsIn, fieldsOf, stageOf } from "../../model/run/asking";
import { DeleteButton, WriteButton } from "../../session/may";
import { useDeletion } from "../../session/useDeletion";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { ListPanel } from "../../ui/ListPanel";
import { Pager } from "../../ui/Pager";
import { Empty, StateBadge } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { TopBar } from "../../ui/TopBar";
import { AskDialog } from "./AskDialog";
import "./analysis.css";

const CLOSED = Object.fromEntries(["ask", "again", ...ASKED_IN_ADDRESS].map((name) => [name, ""]));

/** All questions about many runs, the newest first, and how Spark is, which answers them. */
export function AnalysesPage() {
  const [url, change] = useUrlState(["offset", "ask", "again", ...ASKED_IN_ADDRESS]);
  const offset = Number(url.offset) || 0;
  const { data, error, refetch, isPlaceholderData } = useQuery(analysesQuery(offset));
  const analyses = data?.items ?? [];
  const count = data?.count ?? 0;
  const asked = KINDS.find((kind) => kind === url.ask);
  const ask = (kind: AnalysisKind) => change({ ask: kind });
  const again = useQuery({ ...analysisQuery(url.again), enabled: url.again !== "", retry: false });
  const first = again.data ? fieldsOf(again.data.question) : fieldsIn(url);
  return (
    <div className="page on-analysis">
      <TopBar
        title="Analysis"
        crumb={<h1>Analysis</h1>}
        actions={
          <WriteButton className="btn primary" data-testid="ask" onClick={() => ask("summaries")}>
            <Icon name="plus" />
            New question
          </WriteButton>
        }
      />
      <div className="list-page">
        <div className="toolbar">
          <span className="mut small">Questions about many runs at once, answered from their files. Runs that were read before are reused.</span>
          <span className="grow" />
          <Count of={data && count} one="question" />
        </div>
        {data && <SparkNote spark={data.spark} waiting={analyses.some(({ state }) => state === "queued")} />}
        <ListPanel label="Questions" data-testid="analysis-list" error={error} loading={!data} retry={() => void refetch()} stale={isPlaceholderData}>
          {analyses.length ? (
            <AnalysisTable analyses={analyses} />
          ) : (
            <Empty
              icon="agg"
              title="No questions yet"
              action={
                <WriteButton className="btn primary" onClick={() => ask("summaries")}>
                  <Icon name="plus" />
                  New question
                </WriteButton>
              }
            >
              Ask for percentiles of all runs over any time span, their recovery times after faults, whether two sets of runs really
              differ, or how a metric depends on two parameters.
            </Empty>
          )}
        </ListPanel>
        <Pager offset={offset} size={ANALYSES_PER_PAGE} count={count} onOffset={(next) => change({ offset: next })} />
      </div>
      {asked && !(url.again && again.isPending) && <AskDialog kind={asked} first={first} onKind={ask} onClose={() => change(CLOSED)} />}
    </div>
  );
}

/** What a person should know of Spark: nothing, as long as it can answer. */
function SparkNote({ spark, waiting }: { spark: SparkState; waiting: boolean }) {
  if (spark.state === "unavailable")
    return (
      <div className="bar-note err" data-testid="spark-note">
        <Icon name="crossc" />
        <span>{spark.message}</span>
      </div>
    );
  if (spark.state === "absent" && waiting)
    return (
      <div className="bar-note" data-testid="spark-note">
        <Icon name="clock" />
        <span>No analysis worker is running; questions wait until one starts. scripts/up starts one automatically.</span>
      </div>
    );
  return null;
}

function AnalysisTable({ analyses }: { analyses: Analysis[] }) {
  const erase = useDeletion("spark/jobs");
  return (
    <table className="table analyses">
      <TableHead columns={["Question", "Runs", "Span", "State", ofNumbers("Asked about"), ofNumbers("Read"), "Asked", ofNumbers("Took")]} actions />
      <tbody>
        {analyses.map((analysis) => (
          <tr key={analysis.id} data-testid={`analysis-${analysis.id}`}>
            <td>
              <Link to={`/analysis/${analysis.id}`}>
                <b>{KIND_WORDS[analysis.kind].title}</b>
              </Link>
            </td>
            <td className="asked" title={questionText(analysis.question)}>
              {questionText(analysis.question)}
            </td>
            <td className="mut">{spanText(analysis.question.span)}</td>
            <td>
              <span title={analysis.error ?? ""}>
                <StateBadge state={analysis.state} />
              </span>{" "}
              {analysis.state === "running" && <span className="mut small">{stageOf(analysis).title}</span>}
            </td>
            <td className="num">{analysis.runs?.toLocaleString("en-US") ?? <span className="mut">–</span>}</td>
            <td className="num" title="Runs newly read; the others were read before">
              {analysis.read?.toLocaleString("en-US") ?? <span className="mut">–</span>}
            </td>
            <td className="mut">{when(analysis.created_at)}</td>
            <td className="num">{tookText(analysis) ?? <span className="mut">–</span>}</td>
            <td className="num">
              <DeleteButton
                what={`${KIND_WORDS[analysis.kind].title}, ${questionText(analysis.question)}`}
                title={isActive(analysis) ? "Delete and stop (can be undone)" : undefined}
                onClick={() => erase(analysis.id, "Question deleted; data read from the runs is kept.")}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
