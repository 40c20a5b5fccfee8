import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { recoveryQuery, runQuery } from "../../api/queries";
import { plural } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { Icon } from "../../ui/Icon";
import { Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";
import { StepThrough } from "./StepThrough";
import "./learn.css";

/** How the line of a run's recovery was found. The step stands in the address. */
export function RecoveryPage() {
  const { id = "", epoch = "" } = useParams();
  const [url, change] = useUrlState(["step"]);
  const { data: run } = useQuery(runQuery(id));
  const { data: told, error, refetch } = useQuery(recoveryQuery(id, epoch));
  return (
    <div className="page on-learn">
      <TopBar
        title={`Recovery ${epoch}${run ? `, run ${run.number}` : ""}`}
        crumb={
          <>
            <Link to="/runs">Runs</Link>
            <span>/</span>
            <Link to={`/runs/${id}?panel=checkpoints`}>{run ? `${run.experiment.name}, run ${run.number}` : "Run"}</Link>
            <span>/</span>
            <h1>Recovery {epoch}</h1>
          </>
        }
      />
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !told ? (
        <Loading />
      ) : (
        <div className="recovered">
          <header className="panel">
            <h2>How the line was found</h2>
            <p>
              {told.text}{" "}
              All instances roll back to consistent checkpoints. An arrow stands for records that the receiver had processed but the
              sender, on the line so far, had not sent: somewhere between the two checkpoints.{" "}
              {told.left_out > 0 && (
                <b data-testid="left-out">
                  The diagram shows the instances that rolled back and those that caused it; {plural(told.left_out, "other instance")}{" "}
                  {told.left_out === 1 ? "is" : "are"} omitted.
                </b>
              )}
            </p>
            <small className="mut">
              <Icon name="learn" small /> <Link to="/learn/checkmate-3.4">The same search on a small example</Link>
            </small>
          </header>
          {told.diagram.instances.length ? (
            <StepThrough
              key={`${id} ${epoch}`}
              told={told}
              begin={Number(url.step || 1) - 1 || 0}
              onStep={(number) => change({ step: number ? String(number + 1) : "" }, true)}
            />
          ) : (
            <section className="panel">
              <p className="mut small">No instance had to roll back past its latest checkpoint: the latest ones are consistent.</p>
            </section>
          )}
        </div>
      )}
    </div>
  );
}
