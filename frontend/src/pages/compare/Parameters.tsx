import { useMemo } from "react";
import type { ComparedSide, Run } from "../../api/types";
import { plural } from "../../lib/format";
import { implied, parameterRows, placeOf } from "../../model/run/compare";
import { Icon } from "../../ui/Icon";

/** Where a document has no such field. text: what holds then. */
const Unsaid = ({ text }: { text: string }) => (
  <span className="mut" title={text ? `${text}: the default, not set in the document` : undefined}>
    {text || "–"}
    {text && <span className="vh"> by default</span>}
  </span>
);

/** How the documents differ from the first, in words; below, folded, their values by JSON pointer. */
export function Parameters({
  runs,
  sides,
  all,
  onAll,
}: {
  runs: Run[];
  sides: (ComparedSide | undefined)[];
  all: boolean;
  onAll: (all: boolean) => void;
}) {
  const others = runs.slice(1).map((run, at) => ({ run, side: sides[at + 1] }));
  const counts = others.map(({ side }) => side?.differs_count ?? 0);
  return (
    <section className="panel" aria-label="Differences" data-testid="parameters">
      <div className="ph">
        <h2>Differences</h2>
        <span className="mut">{others.length === 1 ? plural(counts[0] ?? 0, "difference") : `of each run from run ${runs[0]?.number}`}</span>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Differences, list">
        {others.map(({ run, side }) => (
          <Differs key={run.id} run={run} side={side} named={others.length > 1} />
        ))}
        <Values runs={runs} all={all} onAll={onAll} />
      </div>
    </section>
  );
}

/** named: there are several lists, so that each says whose it is. */
function Differs({ run, side, named }: { run: Run; side: ComparedSide | undefined; named: boolean }) {
  if (!side) return null;
  const more = side.differs_count - side.differs.length;
  return (
    <>
      {named && <h3>Run {run.number}</h3>}
      {side.differs.length ? (
        <ul className="differs-list" aria-label={`Differences of run ${run.number}`}>
          {side.differs.map(({ path, text }) => (
            <li key={`${path} ${text}`} title={path}>
              {text}
            </li>
          ))}
          {more > 0 && <li className="mut">{plural(more, "more difference")}; see all values below.</li>}
        </ul>
      ) : (
        <p className="nothing">
          <Icon name="check" small />
          Same document as the first run; any difference comes from elsewhere, such as another engine version.
        </p>
      )}
    </>
  );
}

/** The values of the documents by JSON pointer: where they differ, or all. */
function Values({ runs, all, onAll }: { runs: Run[]; all: boolean; onAll: (all: boolean) => void }) {
  const documents = useMemo(() => runs.map((run) => run.document), [runs]);
  const rows = useMemo(() => parameterRows(documents, !all), [documents, all]);
  return (
    <details className="by-pointer" open={all || undefined}>
      <summary>{plural(rows.length, "value")} by JSON pointer</summary>
      <label className="switch">
        <input type="checkbox" checked={!all} onChange={(event) => onAll(!event.target.checked)} />
        Only values that differ
      </label>
      <table className="table parameters">
        <thead>
          <tr>
            <th>Field</th>
            {runs.map((run) => (
              <th key={run.id}>Run {run.number}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ pointer, values }) => (
            <tr key={pointer}>
              <td>
                <span className="mono pointer" title={pointer}>
                  {pointer}
                </span>
                <small>{placeOf(pointer, documents)}</small>
              </td>
              {values.map((value, at) => (
                <td key={runs[at]?.id} className={`mono ${all && value !== values[0] ? "differs" : ""}`}>
                  {value === undefined ? (
                    <Unsaid text={implied(pointer, documents[at])} />
                  ) : (
                    <span title={String(value)}>{String(value)}</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
