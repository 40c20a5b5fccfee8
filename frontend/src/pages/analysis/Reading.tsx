import type { AnalysisKind, RunsAsked } from "../../api/analysis";
import type { SelectedRuns } from "../../api/types";
import { countText, endedText, newText, poolWarning } from "../../model/run/asking";
import { Icon } from "../../ui/Icon";

const LISTED = 6;

/** What one side of a question would read: how many runs of which experiments, when they ended, and how many of them are new. */
export function Reading({
  label,
  kind,
  by,
  runs,
  selected,
  onOnly,
  onByExperiment,
}: {
  label: string;
  kind: AnalysisKind;
  by: string;
  runs: RunsAsked;
  selected: SelectedRuns;
  /** Read the runs of one experiment only. */
  onOnly: (experiment: string) => void;
  /** Ask for statistics by experiment instead. */
  onByExperiment: () => void;
}) {
  const { all, experiments, experiment_count: count } = selected;
  const warning = poolWarning(kind, by, runs, selected);
  return (
    <div className="reading" role="status" aria-label={label} data-testid="reading">
      <p>
        <b>{countText(selected, runs.state)}</b>
        {all.runs > 0 && <span className="mut">{[endedText(selected), newText(selected.new, all.runs)].filter(Boolean).join("; ")}.</span>}
      </p>
      {count > 1 && (
        <ul aria-label="Runs by experiment">
          {experiments.slice(0, LISTED).map(({ id, name, runs: count }) => (
            <li key={id}>
              <button type="button" className="btn" title={`Read only the runs of “${name}”`} onClick={() => onOnly(id)}>
                <span className="ell">{name}</span>
                <small>{count.toLocaleString("en-US")}</small>
              </button>
            </li>
          ))}
          {count > LISTED && <li className="mut">and {(count - LISTED).toLocaleString("en-US")} more</li>}
        </ul>
      )}
      {warning && (
        <p className="remark warn" data-testid="pool-warning">
          <Icon name="warn" small />
          <span>
            {warning}{" "}
            {kind !== "comparison" && (
              <button type="button" className="link" onClick={onByExperiment}>
                Statistics by experiment
              </button>
            )}
          </span>
        </p>
      )}
    </div>
  );
}
