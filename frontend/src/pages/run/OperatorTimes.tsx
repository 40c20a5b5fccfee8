import { useMemo, useState } from "react";
import { short } from "../../lib/format";
import { meansOf, operatorSums } from "../../model/run/charts";
import { SUM_PARTS } from "../../model/run/parts";
import { Icon } from "../../ui/Icon";
import { PartBar, PartKeys, partsText, time } from "../../ui/parts";
import { useLiveRun } from "./liveRun";

/** Where the time of a record went, operator by operator: means over all records after warm-up, up to the head. */
export function OperatorTimes({ warmup_s }: { warmup_s: number }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const [table, setTable] = useState(false);
  // The sums run over all frames; they are made anew whenever the log has grown by a fiftieth, and at the end.
  const complete = useLiveRun((state) => state.complete);
  const settled = complete ? -1 : Math.floor(Math.log(count + 1) * 50);
  const operators = useMemo(
    () =>
      (settled ? operatorSums(log, warmup_s) : []).map((sums) => ({ id: sums.id, records: sums.records, means: meansOf(sums) })),
    [log, warmup_s, settled],
  );
  const longest = Math.max(1, ...operators.map(({ means }) => means.reduce((sum, ns) => sum + ns, 0)));
  const used = SUM_PARTS.map((_, at) => operators.some(({ means }) => (means[at] ?? 0) > 0));
  return (
    <div className="times scroll" data-testid="operator-times">
      <div className="ph">
        <span className="mut">Mean time of a record at each operator, after warm-up</span>
        <span className="grow" />
        <button
          className="btn ghost icon mini"
          title={table ? "Show the bars" : "Show as a table"}
          aria-label={`Time by operator: ${table ? "bars" : "table"}`}
          aria-pressed={table}
          onClick={() => setTable(!table)}
        >
          <Icon name={table ? "compare" : "table"} small />
        </button>
      </div>
      {table ? (
        <table className="table">
          <thead>
            <tr>
              <th>Operator</th>
              <th className="num">Records</th>
              {SUM_PARTS.map((part, at) => used[at] && <th key={part.id} className="num" title={part.means}>{part.label}</th>)}
            </tr>
          </thead>
          <tbody>
            {operators.map(({ id, records, means }) => (
              <tr key={id}>
                <td>{id}</td>
                <td className="num">{short(records)}</td>
                {means.map((ns, at) => used[at] && <td key={SUM_PARTS[at]?.id} className="num">{time(ns)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <>
          <PartKeys used={used} />
          <ul className="means">
            {operators.map(({ id, means }) => {
              const whole = means.reduce((sum, ns) => sum + ns, 0);
              return (
                <li key={id} title={partsText(means)}>
                  <span className="ell">{id}</span>
                  <span>
                    <PartBar parts={means} longest={longest} />
                  </span>
                  <b>{time(whole)}</b>
                </li>
              );
            })}
          </ul>
        </>
      )}
    </div>
  );
}
