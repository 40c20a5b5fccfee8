import { useCallback } from "react";
import { plural, short } from "../../lib/format";
import type { Course, Shown } from "../../model/learning/worth";
import { axisOf, Plot, SERIES, type Colours } from "../../ui/chart/Plot";

/** By epoch of each member: its loss in training, or its validation, which is a median q-error or a share of wrong classes. */
export function TrainingChart({ course: { cost, members }, shown }: { course: Course; shown: Shown }) {
  const what = shown === "loss" ? "loss" : cost.isClass ? "share of wrong classes" : "median q-error";
  const draw = useCallback(
    (colour: Colours) => ({
      data: members.map(({ seed, epochs, validation, loss }, at) => {
        const values = shown === "loss" ? loss : validation;
        const series = SERIES[at % SERIES.length] ?? SERIES[0];
        return {
          type: "scatter",
          mode: "lines",
          name: `member ${at + 1}`,
          x: epochs,
          y: values,
          line: { color: colour(series.token), dash: series.dash, width: 2 },
          hovertemplate: `seed ${seed}, epoch %{x}: <b>%{y:.3g}</b><extra></extra>`,
        };
      }),
      layout: {
        xaxis: axisOf(colour, "epoch", { rangemode: "tozero" }),
        yaxis: axisOf(colour, what),
      },
    }),
    [members, shown, what],
  );
  const best = members.map(({ validation }) => Math.min(...validation));
  return (
    <section className="card-of" aria-label={`Training, ${cost.title}`}>
      <div className="ch">
        <h3>{cost.title}</h3>
        <span className="mut">
          best validation {best.filter(Number.isFinite).map(short).join(", ")}
          {members.some(({ isTrained }) => !isTrained) && ", in training"}
        </span>
      </div>
      <div className="chart">
        <Plot label={`${cost.title}: ${shown} of ${plural(members.length, "member")} by epoch`} draw={draw} revision={`${cost.id} ${shown}`} />
      </div>
    </section>
  );
}
