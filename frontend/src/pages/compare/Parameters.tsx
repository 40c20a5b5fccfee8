import { useMemo } from "react";
import type { Run } from "../../api/types";
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

/** What the documents say, by JSON pointer: where they differ, or everything. */
export function Parameters({ runs, all, onAll }: { runs: Run[]; all: boolean; onAll: (all: boolean) => void }) {
  const documents = useMemo(() => runs.map((run) => run.document), [runs]);
  const rows = useMemo(() => parameterRows(documents, !all), [documents, all]);
  return (
    <section className="panel" aria-label="Parameters" data-testid="parameters">
      <div className="ph">
        <h2>Parameters</h2>
        <span className="mut">{all ? plural(rows.length, "value") : plural(rows.length, "difference")}</span>
        <span className="grow" />
        <label className="switch">
          <input type="checkbox" checked={!all} onChange={(event) => onAll(!event.target.checked)} />
          Differences only
        </label>
      </div>
      {rows.length ? (
        <div className="scroll" tabIndex={0} role="region" aria-label="Parameters, table">
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
        </div>
      ) : (
        <p className="nothing">
          <Icon name="check" small />
          The documents are identical; any difference comes from elsewhere, such as another engine version.
        </p>
      )}
    </section>
  );
}
