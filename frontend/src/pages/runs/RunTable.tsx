import { useRef } from "react";
import { Link } from "react-router";
import type { Baseline, Run } from "../../api/types";
import { changeText, relativeChange } from "../../lib/change";
import { ariaSort, nextOrder } from "../../lib/order";
import { numberAt } from "../../model/run/compare";
import { cellText, type Cell } from "../../model/run/runFields";
import { useBaselines } from "../../session/baseline";
import { Icon } from "../../ui/Icon";
import type { Column } from "./columns";

/** What the runs have in a field that the list asked for, in their order. */
export interface Values {
  unit: string;
  texts: boolean;
  cells: readonly Cell[];
}

/** Runs as rows that can be chosen; Shift chooses all from the last one. The order is the server's, over all runs, not only those shown. */
export function RunTable({
  runs,
  columns,
  values,
  sort,
  usual,
  onSort,
  chosen,
  onChoose,
  onTag,
}: {
  runs: Run[];
  columns: Column[];
  /** By field of the columns. */
  values: ReadonlyMap<string, Values>;
  sort: string;
  /** The order that nobody has chosen. */
  usual: string;
  onSort: (sort: string) => void;
  chosen: ReadonlySet<string>;
  onChoose: (ids: string[], on: boolean) => void;
  onTag: (tag: string) => void;
}) {
  const all = runs.every((run) => chosen.has(run.id));
  const last = useRef("");
  const baselines = useBaselines();
  const hasNumbers = (field = "") => values.get(field)?.texts === false;
  const choose = (run: Run, on: boolean, range: boolean) => {
    const from = range ? runs.findIndex((one) => one.id === last.current) : -1;
    const to = runs.indexOf(run);
    const [first, end] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
    onChoose(runs.slice(first, end + 1).map((one) => one.id), on);
    last.current = run.id;
  };
  return (
    <table className="table runs">
      <thead>
        <tr>
          <th className="choose-cell">
            <label className="tick" title={all ? "Choose none" : "Choose all on this page"}>
              <input
                type="checkbox"
                aria-label="Choose all on this page"
                checked={all}
                onChange={() => onChoose(runs.map((run) => run.id), !all)}
              />
            </label>
          </th>
          {columns.map(({ id, label, sort: order, number, field }) => (
            <th key={id} className={number || hasNumbers(field) ? "num" : ""} aria-sort={order && label !== "Created" ? ariaSort(sort, order) : undefined}>
              {order ? (
                <button onClick={() => onSort(nextOrder(sort, order, usual))} title={`Sort by ${label.toLowerCase()}`}>
                  {label}
                  {ariaSort(sort, order) === "none" || label === "Created" ? "" : sort.startsWith("-") ? "▼" : "▲"}
                </button>
              ) : (
                label
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {runs.map((run, at) => (
          <tr key={run.id} data-testid={`run-${run.number}`} className={chosen.has(run.id) ? "chosen" : ""}>
            <td className="choose-cell">
              <label className="tick">
                <input
                  type="checkbox"
                  aria-label={`Choose run ${run.number}`}
                  checked={chosen.has(run.id)}
                  onChange={(event) => choose(run, event.target.checked, (event.nativeEvent as MouseEvent).shiftKey)}
                />
              </label>
            </td>
            {columns.map(({ id, field, number, metric, cell }) => (
              <td key={id} className={`${number || hasNumbers(field) ? "num" : ""} c-${field ? "field" : id}`}>
                {metric && <Delta run={run} metric={metric} baseline={baselines.get(run.experiment.id)} />}
                {id === "run" && baselines.get(run.experiment.id)?.run === run.id && <Pinned />}
                {id === "tags" ? <Tags run={run} onTag={onTag} /> : field ? <Value of={values.get(field)} at={at} /> : cell(run)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What one run has there. */
function Value({ of, at }: { of: Values | undefined; at: number }) {
  const cell = of?.cells[at] ?? null;
  if (cell === null) return <span className="mut">–</span>;
  const text = cellText(cell, of?.unit);
  return (
    <span className="ell" title={String(cell)}>
      {text}
    </span>
  );
}

const Pinned = () => (
  <span className="pinned" title="Baseline of its experiment: the other runs are compared with it" role="img" aria-label="Baseline">
    <Icon name="pin" small />
  </span>
);

/** How a metric differs from that of the experiment's baseline. */
function Delta({ run, metric, baseline }: { run: Run; metric: string; baseline: Baseline | undefined }) {
  if (!baseline || baseline.run === run.id) return null;
  const change = relativeChange(baseline.metrics[metric] ?? null, numberAt(run.summary, metric));
  if (change === null) return null;
  return (
    <small className="delta" title={`Against the baseline, run ${baseline.number}`}>
      {changeText(change)}
    </small>
  );
}

/** Given by people, and whether they have written something about it. */
function Tags({ run, onTag }: { run: Run; onTag: (tag: string) => void }) {
  return (
    <span className="tags">
      {run.tags.map((tag) => (
        <button key={tag} className="tag" title={`Show runs tagged “${tag}”`} onClick={() => onTag(tag)}>
          <Icon name="flag" small />
          <span className="ell">{tag}</span>
        </button>
      ))}
      {run.said && (
        <Link className="noted" to={`/runs/${run.id}?panel=notes`} title={run.said} aria-label={`Notes on run ${run.number}`}>
          <Icon name="book" small />
        </Link>
      )}
    </span>
  );
}
