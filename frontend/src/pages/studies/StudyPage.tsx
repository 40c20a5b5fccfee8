import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { Link, useParams } from "react-router";
import { POINTS_MAX, studyOptimisationQuery, studyQuery, studyResultsQuery } from "../../api/queries";
import type { StudyDetail } from "../../api/types";
import { plural } from "../../lib/format";
import { dimensionsOf } from "../../model/study/chart";
import { FOUND, metricsNamed } from "../../model/study/metrics";
import { soughtMetrics } from "../../model/study/optimum";
import { isOptimised, loadOf } from "../../model/study/study";
import { keyOf } from "../../model/study/table";
import type { PlotHandle } from "../../ui/chart/Plot";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";
import { PointPanel } from "./PointPanel";
import { PointsPanel } from "./PointsPanel";
import { PredictedPanel } from "./PredictedPanel";
import { ResultPanel } from "./ResultPanel";
import { StudyBar } from "./StudyBar";
import { StudyHead } from "./StudyHead";
import { useView } from "./view";
import "./studies.css";

/** One study: how far it is, what it found, and the runs behind each point. All that is chosen stands in the address. */
export function StudyPage() {
  const { id = "" } = useParams();
  const { data: study, error, refetch } = useQuery(studyQuery(id));
  if (!study)
    return (
      <div className="page on-studies">
        <TopBar title="Study" crumb={<Link to="/studies">Studies</Link>} />
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
      </div>
    );
  return <Opened key={id} study={study} />;
}

function Opened({ study }: { study: StudyDetail }) {
  const { document } = study;
  const searches = loadOf(document) !== null;
  const dimensions = useMemo(() => dimensionsOf(document), [document]);
  const view = useView(document, dimensions);
  const metrics = metricsNamed(view.metrics || soughtMetrics(document, study.metrics).join(","), study.metrics, searches);
  const measured = metrics.filter((name) => name !== FOUND);
  const { data: results, error, refetch, isPlaceholderData } = useQuery(studyResultsQuery(study.id, measured));
  const { data: optimisation } = useQuery(studyOptimisationQuery(study.id, isOptimised(document)));
  const plots = useRef<(PlotHandle | null)[]>([]);
  const best = optimisation?.best ?? [];
  const found = results?.found[0] ? { point: results.found[0].point, share: null } : null;
  const first = results?.points.find(({ point }) => point === best[0]) ?? results?.points[0] ?? found;
  const point = view.point || (first ? keyOf(first) : "");
  const some = results && (results.points.length > 0 || results.found.some(({ tried }) => tried.length > 0));
  return (
    <div className="page on-studies">
      <StudyBar study={study} results={results} metrics={metrics} charted={Boolean(some) && view.way !== "table" && view.way !== "matrix"} plots={plots} />
      <div className="study" data-testid="study">
        <StudyHead study={study} results={results} optimisation={optimisation} />
        {error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : !results ? (
          <Loading />
        ) : some ? (
          <div className="study-main" aria-busy={isPlaceholderData} style={isPlaceholderData ? { opacity: 0.6 } : undefined}>
            <ResultPanel
              study={study}
              results={results}
              optimisation={optimisation}
              metrics={metrics}
              dimensions={dimensions}
              view={view}
              point={point}
              plots={plots}
            />
            <div className={study.predictions ? "study-side predicts" : "study-side"}>
              {study.predictions && <PredictedPanel study={study} predictions={study.predictions} />}
              <PointsPanel
                study={document}
                results={results}
                metric={metrics[0] ?? ""}
                best={best}
                point={point}
                onPoint={(next) => view.change({ point: next })}
              />
              <PointPanel study={study} results={results} metrics={metrics} point={point} />
            </div>
          </div>
        ) : study.state === "queued" || study.state === "running" ? (
          <Empty icon="clock" title="No results yet">
            {study.state === "queued"
              ? "The study is waiting for a worker. Results appear here automatically."
              : "First runs in progress. Results appear here automatically."}
          </Empty>
        ) : (
          <Empty
            icon="crossc"
            title="This study has no results"
            action={
              <Link className="btn" to={`/studies/new?study=${study.id}`}>
                <Icon name="copy" />
                Edit as new
              </Link>
            }
          >
            {study.error ?? "It ended before any of its runs did."}
          </Empty>
        )}
        {results && results.count > POINTS_MAX && (
          <p className="note">
            The first {plural(POINTS_MAX, "point")} of {results.count.toLocaleString("en-US")} are shown.
          </p>
        )}
      </div>
    </div>
  );
}
