import { useMutation } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useNavigate } from "react-router";
import { get } from "../../api/client";
import type { Run, StudyDetail, StudyPoint, StudyResults, StudySearch } from "../../api/types";
import { plural, short } from "../../lib/format";
import { shareText, worstOf } from "../../model/document/assertions";
import { coerceDocument } from "../../model/document/coerce";
import { COMPARED_MAX, compareLink } from "../../model/run/compare";
import { FOUND, metricOf, metricTitle } from "../../model/study/metrics";
import { loadOf, namedValues, pointText, valueText } from "../../model/study/study";
import { keyOf } from "../../model/study/table";
import { WriteButton } from "../../session/may";
import { useCreate } from "../../session/useCreate";
import { Icon } from "../../ui/Icon";
import { StateBadge } from "../../ui/states";
import { VerdictBadge } from "../../ui/VerdictBadge";
import { toast } from "../../ui/toasts";

/** The runs behind a point; of a search, every load that was tried, seed by seed. */
export function PointPanel({
  study,
  results,
  metrics,
  point,
}: {
  study: StudyDetail;
  results: StudyResults;
  metrics: string[];
  point: string;
}) {
  const number = Number(point.split("@")[0]);
  const { at, searches } = useMemo(
    () => ({
      at: results.points.find((one) => keyOf(one) === point),
      searches: results.found.filter((one) => one.point === number),
    }),
    [results, point, number],
  );
  const values = at?.values ?? searches[0]?.values ?? {};
  const share = at?.share ?? null;
  const title = `${pointText(namedValues(study.document, values))}${share === null ? "" : `, at ${valueText(share * 100)} % of its load`}`;
  const ids = [...(at?.runs ?? []).flatMap(({ run }) => (run ? [run] : [])), ...(at ? [] : searches.flatMap(atTheLoad))];
  const load = loadOf(study.document)?.name;
  return (
    <section className="panel" aria-label="Point" data-testid="point">
      <div className="ph">
        <h2 className="ell">{load && !at ? "Loads tried" : "Runs"}</h2>
        <span className="mut ell" title={title}>
          {title}
        </span>
      </div>
      <div className="scroll grow" tabIndex={0} role="region" aria-label="Runs behind the point">
        {at && <Runs point={at} metrics={metrics.filter((name) => name !== FOUND)} {...(load ? { load } : {})} />}
        {searches.map((search) => (
          <Ladder key={search.seed} search={search} load={load ?? "load"} />
        ))}
      </div>
      <Actions ids={ids} name={`${study.name}: ${title}`} />
    </section>
  );
}

/** The run at the load that was found. */
const atTheLoad = ({ sustained, tried }: StudySearch) => tried.flatMap(({ load, run }) => (load === sustained && run ? [run] : []));

const SHOWN_MAX = 3;

function Runs({ point, metrics, load }: { point: StudyPoint; metrics: string[]; load?: string }) {
  const shown = metrics.slice(0, SHOWN_MAX);
  const failures = point.runs.filter(({ failure }) => failure);
  return (
    <>
      <table className="table behind">
        <thead>
          <tr>
            <th>Seed</th>
            {load && <th className="num">{load}</th>}
            {shown.map((name) => (
              <th key={name} className="num">
                {metricTitle(metricOf(name))}
              </th>
            ))}
            <th className="num">Run</th>
          </tr>
        </thead>
        <tbody>
          {point.runs.map((run) => (
            <tr key={run.seed}>
              <td>{run.seed}</td>
              {load && <td className="num">{valueText(run.values[load])}</td>}
              {shown.map((name) => (
                <td key={name} className="num">
                  {run.metrics[name] === undefined ? <span className="mut">–</span> : short(run.metrics[name])}
                </td>
              ))}
              <td className="num">
                {run.run ? (
                  <Link to={`/runs/${run.run}`} title={run.reused ? "Reused: the lab already had this run" : ""}>
                    run {run.number}
                    {run.reused && ", reused"}
                  </Link>
                ) : (
                  <span className="mut">none</span>
                )}{" "}
                {run.state && run.state !== "succeeded" && <StateBadge state={run.state} />}
              </td>
            </tr>
          ))}
          {point.runs.length > 1 && (
            <tr>
              <td colSpan={load ? 2 : 1}>
                <b>Mean</b>
              </td>
              {shown.map((name) => {
                const over = point.over_seeds[name];
                return (
                  <td key={name} className="num">
                    {over ? <b>{short(over.mean)}</b> : <span className="mut">–</span>}
                    {over && over.low !== null && over.high !== null && (
                      <small>
                        {short(over.low)} to {short(over.high)}
                      </small>
                    )}
                  </td>
                );
              })}
              <td />
            </tr>
          )}
        </tbody>
      </table>
      {point.assertions.length > 0 && (
        <dl className="judged" data-testid="point-assertions">
          {point.assertions.map((one) => (
            <div key={one.name}>
              <dt dir="auto">{one.name}</dt>
              <dd>
                <VerdictBadge state={worstOf([one]) ?? "holds"} text={shareText(one)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {failures.map((run) => (
        <p key={run.seed} className="failure">
          Seed {run.seed}: {run.failure}
        </p>
      ))}
    </>
  );
}

/** Every load that was tried, the largest first, with why it was not sustained. */
function Ladder({ search, load }: { search: StudySearch; load: string }) {
  const tried = [...search.tried].sort((a, b) => b.load - a.load);
  return (
    <div data-testid={`ladder-${search.seed}`}>
      <p className="seed-head">
        <b>Seed {search.seed}</b>
        <span className="mut">{outcome(search, load)}</span>
      </p>
      {search.failure && <p className="failure">{search.failure}</p>}
      <table className="table ladder">
        <thead>
          <tr>
            <th className="num">{load}</th>
            <th>Verdict</th>
            <th>Why</th>
            <th className="num">Run</th>
          </tr>
        </thead>
        <tbody>
          {tried.map((one) => (
            <tr key={one.load}>
              <td className="num">{one.load === search.sustained ? <b>{valueText(one.load)}</b> : valueText(one.load)}</td>
              <td>
                <span className={`verdict ${one.sustained ? "ok" : "err"}`}>
                  <Icon name={one.sustained ? "check" : "crossc"} small />
                  {one.sustained ? "sustained" : "not sustained"}
                </span>
              </td>
              <td className="why">{one.reasons.join("; ") || <span className="mut">–</span>}</td>
              <td className="num">{one.run ? <Link to={`/runs/${one.run}`}>{one.number}</Link> : <span className="mut">–</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function outcome({ sustained, failed, over, tried }: StudySearch, load: string): string {
  if (!over) return `${plural(tried.length, "load")} tried, still searching`;
  if (sustained === null) return `not sustained anywhere in the range of ${load}`;
  if (failed === null) return `sustained up to the top of the range, ${valueText(sustained)}: try a larger range`;
  return `${valueText(sustained)} sustained, ${valueText(failed)} not`;
}

/** From a point back to what can be done with runs and documents. */
function Actions({ ids, name }: { ids: string[]; name: string }) {
  const navigate = useNavigate();
  const create = useCreate();
  const open = useMutation({
    mutationFn: (id: string) => get<Run>(`/api/runs/${id}`),
    onSuccess: (run) => create.mutate({ ...coerceDocument(run.document), name: name.slice(0, NAME_LENGTH_MAX) }),
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const compared = ids.slice(0, COMPARED_MAX);
  const [first] = ids;
  return (
    <div className="side-actions">
      <button
        className="btn"
        disabled={compared.length < 2}
        title={compared.length < 2 ? "There is only one run here; add seeds to compare" : "Lines over time, metrics and differences"}
        onClick={() => void navigate(compareLink(compared))}
      >
        <Icon name="compare" />
        Compare {ids.length > COMPARED_MAX ? `the first ${COMPARED_MAX} runs` : "runs"}
      </button>
      <WriteButton
        className="btn"
        disabled={!first || open.isPending || create.isPending}
        title={first ? "The document of this point as a new experiment" : "No run of this point yet"}
        onClick={() => first && open.mutate(first)}
      >
        <Icon name="canvas" />
        Open as experiment
      </WriteButton>
    </div>
  );
}

const NAME_LENGTH_MAX = 200;
