import { useQuery } from "@tanstack/react-query";
import { useMemo, type RefObject } from "react";
import { registryQuery } from "../../api/queries";
import type { StudyDetail, StudyOptimisation, StudyResults } from "../../api/types";
import { chartLines, type Dimension } from "../../model/study/chart";
import type { PlotHandle } from "../../ui/chart/Plot";
import { EngineMatrix } from "./EngineMatrix";
import { ResultCharts } from "./ResultCharts";
import { SearchCharts } from "./SearchCharts";
import { ResultTable } from "./ResultTable";
import { ResultTools } from "./ResultTools";
import { TrialCharts } from "./TrialCharts";
import type { View } from "./view";

/** What was found, as lines, as a heat map, as a table or trial by trial. */
export function ResultPanel({
  study,
  results,
  optimisation,
  metrics,
  dimensions,
  view,
  point,
  plots,
}: {
  study: StudyDetail;
  results: StudyResults;
  /** Of a study that optimises, once it is known. */
  optimisation: StudyOptimisation | undefined;
  metrics: string[];
  dimensions: Dimension[];
  view: View;
  point: string;
  plots: RefObject<(PlotHandle | null)[]>;
}) {
  const { document } = study;
  const { across, held, way } = view;
  const { data: registry } = useQuery(registryQuery);
  const charts = useMemo(
    () => metrics.map((metric) => ({ metric, lines: chartLines(document, results, { metric, across: across.name, held }) })),
    [document, results, metrics, across.name, held],
  );
  return (
    <section className="panel found-panel" aria-label="Results" data-testid="results">
      <ResultTools study={study} results={results} metrics={metrics} dimensions={dimensions} charts={charts} view={view} />
      {way === "history" ? (
        optimisation && <TrialCharts study={study} optimisation={optimisation} view={view} point={point} plots={plots} />
      ) : way === "matrix" ? (
        <EngineMatrix study={study} kinds={registry?.engines ?? []} />
      ) : way === "search" ? (
        <SearchCharts study={study} results={results} point={point} plots={plots} />
      ) : way === "table" ? (
        <ResultTable study={document} results={results} metrics={metrics} view={view} point={point} />
      ) : (
        <ResultCharts
          document={document}
          results={results}
          charts={charts}
          dimensions={dimensions}
          view={view}
          point={point}
          plots={plots}
        />
      )}
    </section>
  );
}
