import { Link } from "react-router";
import type { StudyChecked } from "../../api/types";
import { plural } from "../../lib/format";
import { isError } from "../../model/document/validate";
import { isOptimised, loadOf, seedsOf, valueText, type StudyDocument } from "../../model/study/study";
import { Icon } from "../../ui/Icon";
import { show } from "./show";

/** How large the study is, what its first points are, and what is wrong with it. */
export function Overview({
  study,
  checked,
  fresh,
  lost,
  why,
  experiment,
}: {
  study: StudyDocument;
  checked: StudyChecked | null;
  fresh: boolean;
  lost: string;
  /** Why it cannot start. */
  why: string;
  experiment: string | null;
}) {
  const problems = checked?.problems ?? [];
  const axes = (study.axes ?? []).map(({ name }) => name);
  const points = checked?.points ?? null;
  const runs = checked?.runs ?? null;
  const load = loadOf(study);
  const optimised = isOptimised(study);
  return (
    <div className="overview" style={fresh ? undefined : { opacity: 0.7 }}>
      <section className="panel" aria-label="Size">
        <div className="ph">
          <h2>What will run</h2>
        </div>
        <p className="size" role="status" data-testid="study-size" data-runs={fresh ? (runs ?? "") : ""}>
          {points === null || runs === null ? (
            <span className="mut">{checked ? "Available once there are no problems" : "Checking"}</span>
          ) : (
            <>
              <b>{points.toLocaleString("en-US")}</b> {optimised ? (points === 1 ? "trial" : "trials") : points === 1 ? "point" : "points"} × <b>{seedsOf(study).length}</b>{" "}
              {seedsOf(study).length === 1 ? "seed" : "seeds"}
              {load ? (
                <>
                  {" "}
                  = <b>{plural(runs, "search", "searches")}</b>, about ten to thirty runs each
                </>
              ) : (
                <>
                  {" "}
                  = <b>{plural(runs, "run")}</b>
                </>
              )}
            </>
          )}
        </p>
        <p className="note">Runs that the lab already has, with the same document, seed and engine, are reused.</p>
        {why && !problems.length && <p className="note warn">{why}</p>}
        {lost && <p className="note warn">{lost}</p>}
      </section>
      {problems.length > 0 && (
        <section className="panel" aria-label="Problems" data-testid="study-problems">
          <div className="ph">
            <h2>Problems</h2>
            <span className={`cnt ${problems.some(isError) ? "err" : ""}`}>{problems.length}</span>
          </div>
          <ul className="scroll problems" tabIndex={0}>
            {problems.map((problem, at) => (
              <li key={at}>
                <Icon name={isError(problem) ? "crossc" : "warn"} className={isError(problem) ? "bad" : "doubt"} />
                <span>
                  {problem.message}
                  {problem.hint && ` (${problem.hint})`}
                  <small className="mono">{problem.pointer || "/"}</small>
                </span>
                {problem.pointer.startsWith("/experiment/") ? (
                  experiment && (
                    <Link className="btn" to={`/experiments/${experiment}`}>
                      Open
                    </Link>
                  )
                ) : (
                  <button className="btn" onClick={() => show(problem.pointer)}>
                    Show field
                  </button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="panel first-points" aria-label="First points">
        <div className="ph">
          <h2>First points</h2>
          <span className="mut">{points && !optimised && points > (checked?.first.length ?? 0) ? `${checked?.first.length} of ${points.toLocaleString("en-US")}` : ""}</span>
        </div>
        {checked?.first.length && axes.length ? (
          <div className="scroll" tabIndex={0} role="region" aria-label="First points, table">
            <table className="table">
              <thead>
                <tr>
                  <th className="num">Point</th>
                  {axes.map((name) => (
                    <th key={name} className="num">
                      {name.replace(/_/g, " ")}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {checked.first.map((values, at) => (
                  <tr key={at}>
                    <td className="num mut">{at + 1}</td>
                    {axes.map((name) => (
                      <td key={name} className="num ell">
                        {valueText(values[name])}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : (
          <p className="note">{optimised ? "An optimisation chooses points as it goes: the first ones at random, the others from earlier results." : axes.length ? "They are listed once there are no problems." : "One point: the experiment unchanged."}</p>
        )}
      </section>
    </div>
  );
}
