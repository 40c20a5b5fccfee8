import { useMemo } from "react";
import { mean, previewRate, rateSummary } from "../model/rates";
import { linearTop } from "../model/series";
import { isError } from "../model/validate";
import { Icon } from "../ui/Icon";
import { short } from "../ui/format";
import { Tabs } from "../ui/Tabs";
import { OPERATOR_COLOURS } from "./colours";
import { goTo, select, useEditor } from "./editor";
import { useRegistry } from "./useRegistry";

/** Workload preview and problems, under the stage. */
export function Drawer() {
  const drawer = useEditor((state) => state.drawer);
  const open = useEditor((state) => state.drawerOpen);
  const problems = useEditor((state) => state.problems);
  const workload = useEditor((state) => state.document.workload);
  const errors = problems.filter(isError).length;
  return (
    <section className={`drawer ${open ? "" : "folded"}`} aria-label="Workload, problems">
      <Tabs
        label="Drawer"
        value={drawer}
        onChange={(id) => useEditor.setState({ drawer: id, drawerOpen: true })}
        tabs={[
          { id: "workload", label: "Workload" },
          {
            id: "problems",
            label: <>Problems {problems.length > 0 && <span className={`cnt ${errors ? "err" : ""}`}>{problems.length}</span>}</>,
          },
        ]}
        end={
          <>
            <button
              className="link"
              title="Change horizon, warm-up and seed"
              onClick={() => useEditor.setState({ tab: "workload", inspectorOpen: true })}
            >
              horizon {workload.horizon_s ?? 30} s, seed {workload.seed ?? 1}
            </button>
            <button
              className="btn ghost icon"
              aria-expanded={open}
              title={open ? "Fold the drawer (Ctrl+J)" : "Unfold the drawer (Ctrl+J)"}
              aria-label={open ? "Fold the drawer" : "Unfold the drawer"}
              onClick={() => useEditor.setState({ drawerOpen: !open })}
            >
              <Icon name={open ? "down" : "right"} />
            </button>
          </>
        }
      />
      {open && (drawer === "workload" ? <WorkloadPreview /> : <Problems />)}
    </section>
  );
}

const DASHES = ["", "6 3", "7 3 2 3", "2 2", "3 3", ""];

function WorkloadPreview() {
  const document = useEditor((state) => state.document);
  const { kinds } = useRegistry();
  const horizon_s = Number(document.workload.horizon_s) || 30;
  const warmup_s = Math.max(0, Math.min(Number(document.workload.warmup_s) || 0, horizon_s));
  const lines = useMemo(
    () =>
      document.query.operators
        .map((operator, index) => ({ operator, index }))
        .filter(({ operator }) => (kinds.get(operator.kind)?.inputs.length ?? (document.workload.sources[operator.id] ? 0 : 1)) === 0)
        .map(({ operator, index }) => {
          const rate = document.workload.sources[operator.id]?.rate;
          return { id: operator.id, index, rate, samples: previewRate(rate, horizon_s) };
        }),
    [document, kinds, horizon_s],
  );
  const known = lines.flatMap((line) => (line.samples ? [line.samples] : []));
  const total = known.length ? known[0]?.map((_, at) => known.reduce((sum, samples) => sum + (samples[at] ?? 0), 0)) : undefined;
  const { top, step } = linearTop(Math.max(0, ...(total ?? [0])));
  if (!lines.length) return <p className="none">No source yet. Drag one from the palette; its rate over time is drawn here.</p>;
  const path = (samples: number[]) =>
    samples
      .map((value, at) => `${at ? "L" : "M"}${((at / (samples.length - 1)) * 1000).toFixed(1)} ${(100 - (value / top) * 100).toFixed(2)}`)
      .join("");
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, at) => at * step);
  return (
    <div className="workload">
      <div className="streams scroll">
        <ul>
          {lines.map((line) => (
            <li key={line.id}>
              <button onClick={() => select({ operators: [line.id] })} title={`Change the workload of ${line.id}`}>
                <svg width="20" height="8" aria-hidden="true">
                  <path d="M0 4H20" style={strokeOf(line.index)} />
                </svg>
                <span className="ell">{line.id}</span>
                <span>{line.samples ? short(mean(line.samples)) : rateSummary(line.rate)}</span>
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
      {total ? (
        <div
          className="preview"
          role="img"
          aria-label={`Offered rate over ${horizon_s} seconds, ${short(mean(total))} records per second on average`}
        >
          <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
            <rect width={(warmup_s / horizon_s) * 1000} height="100" style={{ fill: "var(--bg-inset)", opacity: 0.7 }} />
            {ticks.map((tick) => (
              <path key={tick} d={`M0 ${100 - (tick / top) * 100}H1000`} style={{ stroke: "var(--grid)" }} />
            ))}
            {lines.length > 1 && (
              <>
                <path d={`${path(total)}L1000 100L0 100Z`} style={{ fill: "color-mix(in srgb, var(--accent) 9%, transparent)" }} />
                <path d={path(total)} style={{ stroke: "var(--accent)", strokeWidth: 2, fill: "none" }} />
              </>
            )}
            {lines.map(
              (line) => line.samples && <path key={line.id} d={path(line.samples)} style={{ ...strokeOf(line.index), fill: "none" }} />,
            )}
            {warmup_s > 0 && (
              <path d={`M${(warmup_s / horizon_s) * 1000} 0V100`} style={{ stroke: "var(--line-control)", strokeDasharray: "2 3" }} />
            )}
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
      ) : (
        <p className="none">The records come at the file's own times, so the rate is known when they are read.</p>
      )}
    </div>
  );
}

const strokeOf = (index: number) => ({
  stroke: `var(--s${(index % OPERATOR_COLOURS) + 1})`,
  strokeWidth: 1.75,
  strokeDasharray: DASHES[index % OPERATOR_COLOURS],
});

const PROBLEMS_SHOWN_MAX = 100;

function Problems() {
  const problems = useEditor((state) => state.problems);
  if (!problems.length)
    return (
      <p className="none">
        <Icon name="checkc" />
        No problems: this experiment can run.
      </p>
    );
  return (
    <ul className="probs scroll" data-testid="problems">
      {problems.slice(0, PROBLEMS_SHOWN_MAX).map((problem, at) => (
        <li key={at} className={isError(problem) ? "err" : "warn"}>
          <Icon name={isError(problem) ? "crossc" : "warn"} />
          <div>
            {problem.message}
            <small className="mono">
              {problem.pointer || "/"}
              {problem.hint ? `, ${problem.hint}` : ""}
            </small>
          </div>
          <button className="btn" onClick={() => goTo(problem.pointer)}>
            Show field
          </button>
        </li>
      ))}
      {problems.length > PROBLEMS_SHOWN_MAX && <li className="mut">and {problems.length - PROBLEMS_SHOWN_MAX} more</li>}
    </ul>
  );
}
