import { useMemo } from "react";
import type { Run } from "../../api/types";
import { meansOf, summedOperators } from "../../model/run/charts";
import { SUM_PARTS } from "../../model/run/parts";
import { PartBar, PartKeys, partsText, time } from "../../ui/parts";
import { Empty } from "../../ui/states";
import { LINES, LineSample } from "./lines";

interface Row {
  id: string;
  /** By place of the run; null where it has no such operator, or no summary yet. */
  means: (number[] | null)[];
}

/** Where the time of a record went at each operator, a bar for each run; after warm-up. */
export function Attribution({ runs }: { runs: Run[] }) {
  const rows = useMemo(() => rowsOf(runs), [runs]);
  const all = rows.flatMap(({ means }) => means.filter((one) => one !== null));
  if (!all.length) return <Empty title="Nothing to compare yet">The time by operator is available when a run has ended.</Empty>;
  const longest = Math.max(1, ...all.map(sum));
  return (
    <div className="scroll attribution" tabIndex={0} role="region" aria-label="Time of a record by operator" data-testid="attribution">
      <PartKeys used={SUM_PARTS.map((_, at) => all.some((means) => (means[at] ?? 0) > 0))} />
      <ul>
        {rows.map(({ id, means }) => (
          <li key={id}>
            <span className="ell" title={id}>
              {id}
            </span>
            <ul>
              {runs.map((run, at) => {
                const parts = means[at];
                return (
                  <li key={run.id} title={parts ? `Run ${run.number}\n${partsText(parts)}` : ""}>
                    <LineSample line={LINES[at]} />
                    <small>{run.number}</small>
                    <span>{parts ? <PartBar parts={parts} longest={longest} /> : <small>none</small>}</span>
                    <b>{parts ? time(sum(parts)) : "–"}</b>
                  </li>
                );
              })}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  );
}

const sum = (parts: number[]) => parts.reduce((total, ns) => total + ns, 0);

function rowsOf(runs: Run[]): Row[] {
  const means = runs.map((run) => new Map(summedOperators(run.summary).map((sums) => [sums.id, meansOf(sums)])));
  const ids = new Set(means.flatMap((one) => [...one.keys()]));
  return [...ids].map((id) => ({ id, means: means.map((one) => one.get(id) ?? null) }));
}
