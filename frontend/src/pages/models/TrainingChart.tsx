import { useCallback } from "react";
import { short } from "../../lib/format";
import type { Course } from "../../model/learning/worth";
import { axisOf, Plot, SERIES, type Colours } from "../../ui/chart/Plot";

/** Validation of each member by epoch: median q-error, or share of wrong classes. */
export function TrainingChart({ course: { cost, members } }: { course: Course }) {
  const draw = useCallback(
    (colour: Colours) => ({
      data: members.map(({ seed, epochs, validation }, at) => {
        const series = SERIES[at % SERIES.length] ?? SERIES[0];
        return {
          type: "scatter",
          mode: "lines",
          name: `member ${at + 1}`,
          x: epochs,
          y: validation,
          line: { color: colour(series.token), dash: series.dash, width: 2 },
          hovertemplate: `seed ${seed}, epoch %{x}: <b>%{y:.3g}</b><extra></extra>`,
        };
      }),
      layout: {
        xaxis: axisOf(colour, "epoch", { rangemode: "tozero" }),
        yaxis: axisOf(colour, cost.isClass ? "share of wrong classes" : "median q-error"),
      },
    }),
    [members, cost],
  );
  const best = members.map(({ validation }) => Math.min(...validation));
  return (
    <section className="card-of" aria-label={`Training, ${cost.title}`}>
      <div className="ch">
        <h3>{cost.title}</h3>
        <span className="mut">
          best {best.filter(Number.isFinite).map(short).join(", ")}
          {members.some(({ isTrained }) => !isTrained) && ", in training"}
        </span>
      </div>
      <div className="chart">
        <Plot label={`${cost.title}: validation of ${members.length} members by epoch`} draw={draw} revision={cost.id} />
      </div>
    </section>
  );
}
