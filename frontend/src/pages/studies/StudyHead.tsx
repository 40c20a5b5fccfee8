import { Link } from "react-router";
import { isActive } from "../../api/queries";
import type { StudyDetail, StudyOptimisation, StudyResults } from "../../api/types";
import { plural, short, tookText } from "../../lib/format";
import { boundText, objectiveText, whyNoBest } from "../../model/study/optimum";
import { boundsOf, designOf, isOptimised, loadOf, namedAxes, objectivesOf, pointText, questionOf, seedsOf, valueText } from "../../model/study/study";
import { Icon } from "../../ui/Icon";
import { Progress } from "./Progress";

const DESIGNS: { [kind: string]: string } = { grid: "grid", together: "zipped", random: "random", latin_hypercube: "Latin hypercube", optimise: "optimisation" };

/** What was asked, and in figures how: points, seeds, runs, what is varied, how long it took. */
export function StudyHead({
  study,
  results,
  optimisation,
}: {
  study: StudyDetail;
  results: StudyResults | undefined;
  optimisation: StudyOptimisation | undefined;
}) {
  const { document } = study;
  const axes = namedAxes(document);
  const load = loadOf(document);
  const seeds = seedsOf(document);
  const took = tookText(study);
  const shares = document.search?.shares ?? [];
  return (
    <>
      {study.error && (
        <div className="bar-note err" data-testid="study-error">
          <Icon name="crossc" />
          <span>{study.error}</span>
        </div>
      )}
      {study.note && (
        <div className="bar-note" data-testid="study-note">
          <Icon name="clock" />
          <span>{study.note}</span>
        </div>
      )}
      <header className="study-head">
        <div>
          <p className="asks">
            <Icon name="studies" small />
            {questionOf(document)} of
            <Link to={`/experiments/${study.experiment}`}>{nameOf(document.experiment)}</Link>
          </p>
          <h1>{study.name}</h1>
          {document.description && <p className="about">{document.description}</p>}
        </div>
        <div className="state">
          <Progress study={study} />
          <span className="mut small" role="status" data-testid="study-counts" data-done={study.trials_done}>
            {plural(study.trials_done, "run")} done
            {isActive(study) && study.trials_left !== null && `, ${load ? "about " : ""}${study.trials_left.toLocaleString("en-US")} left`}
            {study.trials_failed > 0 && `, ${study.trials_failed} failed`}
          </span>
        </div>
      </header>
      <dl className="facts">
        {optimisation && <Best study={study} optimisation={optimisation} />}
        <Fact term={isOptimised(document) ? "Trials" : "Points"} value={results ? results.count.toLocaleString("en-US") : "–"} more={DESIGNS[designOf(document)] ?? designOf(document)} />
        <Fact term="Seeds" value={String(seeds.length)} more={seeds.length > 1 ? "95 % intervals" : "no interval"} />
        <div>
          <dt>Runs</dt>
          <dd>
            <Link to={`/runs?study=${study.id}`}>
              <b>{study.trials_done.toLocaleString("en-US")}</b>
            </Link>{" "}
            <span>{study.trials_failed ? `${study.trials_failed} failed` : "none failed"}</span>
          </dd>
        </div>
        {objectivesOf(document).map((objective) => (
          <Fact key={objective.metric} term="Objective" value={objectiveText(document, objective)} more={objective.over_seeds === "worst" ? "worst seed" : ""} />
        ))}
        {boundsOf(document).map((bound) => (
          <Fact key={bound.metric} term="Subject to" value={boundText(document, bound)} more={bound.over_seeds === "mean" ? "mean of the seeds" : ""} />
        ))}
        {axes.map((axis) => (
          <Fact key={axis.name} term={axis.name.replace(/_/g, " ")} value={valuesText(axis.values)} more={axis.multiply ? "× current value" : axis.also_multiplied?.length ? "scales other fields" : ""} />
        ))}
        {load && (
          <Fact
            term={`Search for ${load.name.replace(/_/g, " ")}`}
            value={valuesText(load.values)}
            more={shares.length ? `then at ${shares.map((share) => `${valueText(share * 100)} %`).join(", ")}` : ""}
          />
        )}
        {document.executor === "spark" && <Fact term="Executed by" value="Spark" more="its executors" />}
        {took && <Fact term="Took" value={took} more="" />}
      </dl>
    </>
  );
}

/** The best point, or how many none of which beats another, or why there is none. */
function Best({ study, optimisation }: { study: StudyDetail; optimisation: StudyOptimisation }) {
  const { trials, best } = optimisation;
  const [first] = best.flatMap((number) => trials.filter(({ point }) => point === number));
  const several = objectivesOf(study.document).length > 1;
  if (!first) return <Fact term="Best" value="none" more={whyNoBest(study.document, optimisation, isActive(study))} />;
  if (several) return <Fact term="Best" value={plural(best.length, "point")} more="none beaten in all objectives" />;
  const [value] = first.objectives;
  return (
    <div data-testid="best">
      <dt>Best{isActive(study) ? " so far" : ""}</dt>
      <dd>
        <Link to={`/studies/${study.id}?point=${first.point}`}>
          <b>{pointText(first.values)}</b>
        </Link>{" "}
        <span>
          {typeof value === "number" ? `${short(value)}, ` : ""}trial {first.point + 1}
        </span>
      </dd>
    </div>
  );
}

function Fact({ term, value, more }: { term: string; value: string; more: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        <b>{value}</b> <span>{more}</span>
      </dd>
    </div>
  );
}

const LISTED_MAX = 5;

/** "2, 4, 8" or "0.5 to 3, 6 values". */
export function valuesText(values: { [name: string]: unknown }): string {
  if (Array.isArray(values.of)) {
    const shown = values.of.slice(0, LISTED_MAX).map(valueText).join(values.of.some((one) => typeof one === "object") ? "; " : ", ");
    return values.of.length > LISTED_MAX ? `${shown}, … (${values.of.length})` : shown;
  }
  const range = `${valueText(values.from as number)} to ${valueText(values.to as number)}`;
  return typeof values.count === "number" ? `${range}, ${values.count} values` : range;
}

const nameOf = (experiment: unknown) => {
  const name = (experiment as { name?: unknown } | null)?.name;
  return typeof name === "string" && name ? name : "an experiment";
};
