import { useQuery } from "@tanstack/react-query";
import { previewQuery } from "../../api/queries";
import type { Problem } from "../../api/types";
import { short } from "../../lib/format";
import { useSettled } from "../../lib/useSettled";
import { horizonOf, warmupOf } from "../../model/document/document";
import { mean, rateSummary, totalOf, type Curve } from "../../model/document/rates";
import { escapePointer, isError, problemsAt } from "../../model/document/validate";
import { OPERATOR_COLOURS } from "../../model/graph/colours";
import { linearTop } from "../../model/run/series";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/states";
import { goTo, select, useEditor } from "./editor";
import { useRegistry } from "./useRegistry";

const DASHES = ["", "6 3", "7 3 2 3", "2 2", "3 3", ""];

interface Line {
  id: string;
  index: number;
  /** Undefined while it is not known, or because the source is broken. */
  curve: Curve | undefined;
  problem: Problem | undefined;
}

/** What every source offers over the horizon, as the server works it out for the run. */
export function WorkloadPreview() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const { kinds } = useRegistry();
  const settled = useSettled(document);
  const { data, error, isFetching, refetch } = useQuery(previewQuery(settled));
  const horizon_s = horizonOf(document);
  const warmup_s = warmupOf(document);
  const lines = document.query.operators
    .map((operator, index) => ({ operator, index }))
    .filter(({ operator }) => (kinds.get(operator.kind)?.inputs.length ?? (document.workload.sources[operator.id] ? 0 : 1)) === 0)
    .map(({ operator, index }): Line => {
      const own = problemsAt(problems, `/workload/sources/${escapePointer(operator.id)}`).filter(isError);
      return { id: operator.id, index, curve: data?.sources[operator.id], problem: own[0] };
    });
  if (!lines.length) return <p className="none">No source yet. Drag one from the palette; its rate over time is drawn here.</p>;
  const known = lines.flatMap((line) => (line.curve ? [line.curve] : []));
  const total = totalOf(known);
  return (
    <div className="workload">
      <div className="streams scroll">
        <ul>
          {lines.map((line) => (
            <li key={line.id}>
              <button onClick={() => select({ operators: [line.id] })} title={line.problem?.message ?? `Change the workload of ${line.id}`}>
                {data && !line.curve ? (
                  <Icon name="crossc" className="broken" />
                ) : (
                  <svg width="20" height="8" aria-hidden="true">
                    <path d="M0 4H20" style={strokeOf(line.index)} />
                  </svg>
                )}
                <span className="ell">{line.id}</span>
                <span>{line.curve ? short(mean(line.curve)) : rateSummary(document.workload.sources[line.id]?.rate)}</span>
              </button>
            </li>
          ))}
          {lines.length > 1 && total && (
            <li className="total">
              <span className="pad">
                <svg width="20" height="8" aria-hidden="true">
                  <path d="M0 4H20" style={{ stroke: "var(--accent)", strokeWidth: 2 }} />
                </svg>
                <b>Total, rec/s</b>
                <b>{short(mean(total))}</b>
              </span>
            </li>
          )}
        </ul>
      </div>
      {error && !isFetching ? (
        <Message text={error.message} action="Try again" onAction={() => void refetch()} />
      ) : total ? (
        <RateChart lines={lines} total={total} horizon_s={horizon_s} warmup_s={warmup_s} stale={isFetching || settled !== document} />
      ) : data ? (
        <Broken lines={lines} />
      ) : (
        <div className="grow">
          <Loading lines={4} />
        </div>
      )}
    </div>
  );
}

function Message({ text, action, onAction }: { text: string; action: string; onAction: () => void }) {
  return (
    <div className="none grow" role="alert" data-testid="preview-message">
      <Icon name="crossc" className="broken" />
      <span>{text}</span>
      <button className="btn" onClick={onAction}>
        {action}
      </button>
    </div>
  );
}

/** No curve at all: the problem of the first source that has one, or of the workload. */
function Broken({ lines }: { lines: Line[] }) {
  const problems = useEditor((state) => state.problems);
  const first = lines.find((line) => line.problem)?.problem ?? problemsAt(problems, "/workload").find(isError) ?? problems.find(isError);
  if (!first) return <p className="none grow">No source has a rate yet. Choose one in the panel of a source.</p>;
  return <Message text={first.message} action="Show field" onAction={() => goTo(first.pointer)} />;
}

function RateChart({
  lines,
  total,
  horizon_s,
  warmup_s,
  stale,
}: {
  lines: Line[];
  total: Curve;
  horizon_s: number;
  warmup_s: number;
  stale: boolean;
}) {
  const { top, step } = linearTop(Math.max(0, ...total.map(([, per_s]) => per_s)));
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, at) => at * step);
  const warm = (warmup_s / horizon_s) * 1000;
  const path = (curve: Curve) =>
    curve
      .map(([t_s, per_s], at) => `${at ? "L" : "M"}${((t_s / horizon_s) * 1000).toFixed(1)} ${(100 - (per_s / top) * 100).toFixed(2)}`)
      .join("");
  return (
    <div
      className={`preview ${stale ? "stale" : ""}`}
      role="img"
      data-testid="preview"
      data-stale={stale}
      aria-label={`Offered rate over ${horizon_s} seconds, ${short(mean(total))} records per second on average`}
    >
      <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
        <rect width={warm} height="100" style={{ fill: "var(--bg-inset)", opacity: 0.7 }} />
        {ticks.map((tick) => (
          <path key={tick} d={`M0 ${100 - (tick / top) * 100}H1000`} style={{ stroke: "var(--grid)" }} />
        ))}
        {lines.length > 1 && (
          <>
            <path d={`${path(total)}L1000 100L0 100Z`} style={{ fill: "color-mix(in srgb, var(--accent) 9%, transparent)" }} />
            <path d={path(total)} style={{ stroke: "var(--accent)", strokeWidth: 2, fill: "none" }} />
          </>
        )}
        {lines.map((line) => line.curve && <path key={line.id} d={path(line.curve)} style={{ ...strokeOf(line.index), fill: "none" }} />)}
        {warmup_s > 0 && <path d={`M${warm} 0V100`} style={{ stroke: "var(--line-control)", strokeDasharray: "2 3" }} />}
      </svg>
      {ticks.map((tick) => (
        <span key={tick} className="yl" style={{ top: `${100 - (tick / top) * 100}%` }}>
          {short(tick)}
        </span>
      ))}
      {[0, 0.25, 0.5, 0.75, 1].map((share) => (
        <span key={share} className="xl" style={{ left: `${share * 100}%` }}>
          {short(share * horizon_s)}
          {share === 1 ? " s" : ""}
        </span>
      ))}
      {warmup_s / horizon_s > 0.1 && <span className="tagp">{warmup_s / horizon_s > 0.3 ? "warm-up, not measured" : "warm-up"}</span>}
    </div>
  );
}

const strokeOf = (index: number) => ({
  stroke: `var(--s${(index % OPERATOR_COLOURS) + 1})`,
  strokeWidth: 1.75,
  strokeDasharray: DASHES[index % OPERATOR_COLOURS],
});
