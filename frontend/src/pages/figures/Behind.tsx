import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";
import { get, post } from "../../api/client";
import type { Scale } from "../../api/figure";
import type { FigureDetail, Json } from "../../api/types";
import { plural, short } from "../../lib/format";
import { keysOf, placeOf, spotValue, type DrawnPanel, type PointAt } from "../../model/figure/figure";
import { WriteButton } from "../../session/may";
import { SeriesSample } from "../../ui/chart/Plot";
import { Icon } from "../../ui/Icon";
import { StateBadge } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { toast } from "../../ui/toasts";

const RUNS_MAX = 200;

/** The runs behind the chosen point. What was made for the figure alone is not kept as runs, and can be made as such. */
export function Behind({
  figure,
  scale,
  panels,
  point,
}: {
  figure: FigureDetail;
  scale: Scale;
  panels: DrawnPanel[];
  point: PointAt | null;
}) {
  const panel = point && panels[point.panel];
  const curve = point && panel?.curves[point.curve];
  const spot = point && curve?.spots[point.spot];
  const computed = curve ? figure.document.values[curve.value]?.kind === "computed" : false;
  const keys = [...new Set(computed ? Object.values(figure.values).flatMap(keysOf) : spot?.runs)];
  const runs = keys.flatMap((key) => figure.lab_runs[key] ?? []);
  const study = curve && figure.document.values[curve.value]?.study;
  const given = curve && (curve.reported || figure.document.values[curve.value]?.kind === "setting");
  const scored = Object.keys(figure.document.evaluations ?? {}).length > 0;
  const studies = study ? [study] : Object.keys(figure.document.studies ?? {});
  const make = useMutation({
    mutationFn: async () => {
      for (const name of studies) {
        const { document } = await get<{ document: Json }>(`/api/figures/${figure.id}/studies/${encodeURIComponent(name)}?scale=${scale}`);
        await post("/api/studies", { document });
      }
    },
    onSuccess: () => toast("Runs started. They appear here as they end; runs that the lab already has are reused."),
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  if (!panel || !curve || !spot)
    return (
      <section className="panel behind" aria-label="Runs behind the point">
        <div className="ph">
          <h2>Runs behind a point</h2>
        </div>
        <p className="nothing">Nothing measured at this scale yet.</p>
      </section>
    );
  const where = placeOf(panel, curve.name, spot.x);
  return (
    <section className="panel behind" aria-label="Runs behind the point" data-testid="behind">
      <div className="ph">
        <SeriesSample at={curve.at} />
        <h2 className="ell">
          Runs behind {curve.name}, {where}
        </h2>
      </div>
      <p className="value">
        <b>{spotValue(spot)}</b> {curve.unit || panel.y.unit}
        {spot.low !== null && spot.high !== null && spot.high > spot.low && (
          <span className="mut">
            , {short(spot.low)} to {short(spot.high)} over seeds
          </span>
        )}
      </p>
      <div className="scroll" tabIndex={0} role="region" aria-label="Runs">
        {computed && <p className="missing">Computed from the measurements of the runs of this figure.</p>}
        {runs.length > 0 && (
          <table className="table">
            <TableHead columns={[ofNumbers("Seed"), "State", ofNumbers("Run")]} />
            <tbody>
              {runs.slice(0, RUNS_MAX).map((run) => (
                <tr key={run.id}>
                  <td className="num">{run.seed}</td>
                  <td>
                    <StateBadge state={run.state} />
                  </td>
                  <td className="num">
                    <Link to={`/runs/${run.id}`}>run {run.number}</Link>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {keys.length === 0 ? (
          <p className="nothing">
            {figure.is_shipped && !scored && !given
              ? "This result comes with Millrace, without its runs. Run the figure at this scale to have its runs in the lab."
              : scored
              ? "A score of learned models, over many drawn experiments that were run for it. They are kept as a corpus, not as runs of the lab."
              : "This number is given in the document; no run measured it."}
          </p>
        ) : (
          runs.length < keys.length && (
            <div className="make">
              <p>
                {plural(keys.length - runs.length, runs.length ? "more run" : "run")} {keys.length - runs.length === 1 ? "was" : "were"}{" "}
                executed for the figure alone, and only the numbers are kept. To inspect them, run the same documents and seeds in the
                lab.
              </p>
              <WriteButton className="btn" data-testid="make-runs" disabled={make.isPending} title={`As ${plural(studies.length, "study", "studies")}: ${studies.join(", ")}`} onClick={() => make.mutate()}>
                <Icon name="play" />
                Start the runs
              </WriteButton>
            </div>
          )
        )}
      </div>
    </section>
  );
}
