import { useCallback } from "react";
import { axisOf, logTicks, Plot, type Colours } from "../../ui/chart/Plot";

/** Lines between which predictions are off by less than this. */
const CONTOURS = [2, 10];

/** Predicted against measured, both logarithmic, with lines of equal q-error. */
export function ScatterChart({ title, unit, points }: { title: string; unit: string; points: [measured: number, predicted: number][] }) {
  const draw = useCallback(
    (colour: Colours) => {
      const known = points.filter(([measured, predicted]) => measured > 0 && predicted > 0);
      const all = known.flat();
      const [least, most] = [Math.min(...all), Math.max(...all)];
      const line = (factor: number, dash: string, name: string) => ({
        type: "scatter",
        mode: "lines",
        name,
        x: [least, most],
        y: [least * factor, most * factor],
        line: { color: colour("--text-3"), width: 1, dash },
        hoverinfo: "skip",
      });
      return {
        data: [
          line(1, "solid", "equal"),
          ...CONTOURS.flatMap((factor) => [line(factor, "dot", `${factor} ×`), line(1 / factor, "dot", `1/${factor}`)]),
          {
            type: "scatter",
            mode: "markers",
            name: "traces of the test",
            x: known.map(([measured]) => measured),
            y: known.map(([, predicted]) => predicted),
            marker: { color: colour("--s1"), size: 5, opacity: 0.6 },
            hovertemplate: `measured %{x:.3g} ${unit}, predicted <b>%{y:.3g} ${unit}</b><extra></extra>`,
          },
        ],
        layout: {
          xaxis: axisOf(colour, `measured, ${unit}`, logTicks(all)),
          yaxis: axisOf(colour, `predicted, ${unit}`, logTicks(all)),
        },
      };
    },
    [points, unit],
  );
  return (
    <div className="chart scatter">
      <Plot label={`${title}: predicted against measured, ${points.length} traces of the test`} draw={draw} revision={title} />
    </div>
  );
}
