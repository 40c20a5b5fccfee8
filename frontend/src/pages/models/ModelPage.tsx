import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link, useParams } from "react-router";
import { isActive, learnedModelsQuery, learningQuery } from "../../api/queries";
import type { LearnedModelsDetail } from "../../api/types";
import { plural } from "../../lib/format";
import { coursesOf, worthOf, type Shown } from "../../model/learning/worth";
import { Empty, Failure, Loading } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { TopBar } from "../../ui/TopBar";
import { ScatterChart } from "./ScatterChart";
import { TrainingChart } from "./TrainingChart";
import "./models.css";

/** The models of one corpus: what they are worth beside simpler predictors, and the course of their training. */
export function ModelPage() {
  const { name = "" } = useParams();
  const { data, error, refetch } = useQuery(learnedModelsQuery(name));
  return (
    <div className="page on-models">
      <TopBar
        title={name}
        crumb={
          <>
            <Link to="/models">Models</Link>
            <span>/</span>
            <b>{name}</b>
          </>
        }
      />
      {data ? <Opened detail={data} /> : error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
    </div>
  );
}

const SHOWN: readonly [Shown, string][] = [
  ["validation", "Validation"],
  ["loss", "Training loss"],
];

function Opened({ detail }: { detail: LearnedModelsDetail }) {
  const worth = useMemo(() => worthOf(detail), [detail]);
  const courses = useMemo(() => coursesOf(detail), [detail]);
  const { data: learning } = useQuery(learningQuery);
  const [shown, setShown] = useState<Shown>("validation");
  const job = learning?.jobs.find((one) => one.kind === "models" && one.name === detail.name && isActive(one));
  return (
    <div className="model-page" data-testid="model" tabIndex={0} role="region" aria-label={`Models ${detail.name}`}>
      <p className="about mut">
        {detail.corpus
          ? `Learned from ${plural(detail.traces, "trace")} of corpus “${detail.corpus}”, network of width ${detail.hidden}${detail.logarithmic ? ", logarithms of features" : ""}. `
          : ""}
        Evidence about the modelled cluster alone.
        {job && (
          <b role="status" data-testid="model-doing">
            {" "}
            {job.doing || "Waiting for a worker"}
          </b>
        )}
      </p>
      {worth.map(({ cost, tested, learnedFrom, rows, points }) => (
        <section key={cost.id} className="panel worth" aria-label={cost.title} data-testid={`worth-${cost.id}`}>
          <div className="ph">
            <h2>{cost.title}</h2>
            <span className="mut">
              learned from {learnedFrom.toLocaleString("en-US")}, tested on {tested.toLocaleString("en-US")} traces
            </span>
          </div>
          <div className={points.length ? "worth-parts" : ""}>
            <table className="table">
              <TableHead
                columns={[
                  "Predictor",
                  ...(cost.isClass ? ["Correct", "Precision", "Recall"] : ["Median q-error", "95 % interval", "95th percentile"]).map(ofNumbers),
                ]}
              />
              <tbody>
                {rows.map(({ predictor, isNetwork, cells }) => (
                  <tr key={predictor}>
                    <td>{isNetwork ? <b>{predictor}</b> : predictor}</td>
                    {cells.map((cell, at) => (
                      <td key={at} className="num">
                        {cell}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
            {points.length > 0 && <ScatterChart title={cost.title} unit={cost.unit} points={points} />}
          </div>
        </section>
      ))}
      {courses.length > 0 ? (
        <section className="panel courses" aria-label="Training" data-testid="training">
          <div className="ph">
            <h2>Training</h2>
            <span className="mut">by epoch; lower is better</span>
            <div className="seg" role="radiogroup" aria-label="Show">
              {SHOWN.map(([value, label]) => (
                <label key={value}>
                  <input type="radio" name="shown" checked={shown === value} onChange={() => setShown(value)} />
                  {label}
                </label>
              ))}
            </div>
          </div>
          <div className="cards">
            {courses.map((course) => (
              <TrainingChart key={course.cost.id} course={course} shown={shown} />
            ))}
          </div>
        </section>
      ) : (
        <Empty icon="models" title="No model is trained yet">
          The course of training appears here as it goes.
        </Empty>
      )}
    </div>
  );
}
