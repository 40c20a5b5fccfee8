import { useCallback, useMemo, type Ref } from "react";
import type { StudyResults } from "../../api/types";
import { short } from "../../lib/format";
import { cellsOf, telling, valuesAlong, type Dimension } from "../../model/study/chart";
import { valueText, type StudyDocument } from "../../model/study/study";
import { axisOf, Plot, type Colours, type PlotHandle } from "../../ui/chart/Plot";
import type { View } from "./view";

/** Numbers in the cells as long as they can be read. */
const WRITTEN_MAX = 120;

/** One metric over two axes: darker is more, and the number stands in the cell. */
export function HeatMap({
  study,
  results,
  metric,
  title,
  view,
  dimensions,
  handle,
}: {
  study: StudyDocument;
  results: StudyResults;
  metric: string;
  title: string;
  view: View;
  dimensions: Dimension[];
  handle: Ref<PlotHandle>;
}) {
  const { across, up, held } = view;
  const cells = useMemo(() => {
    // What is not held at a value is held at its first one: a cell has one number.
    const others = telling(study, dimensions, across.name, metric).filter(({ name }) => name !== up);
    const all = Object.fromEntries(others.map(({ name }) => [name, held[name] ?? valuesAlong(results, name)[0] ?? ""]));
    return cellsOf(study, results, { metric, across: across.name, held: all }, up);
  }, [study, results, metric, across.name, up, held, dimensions]);
  const upTitle = dimensions.find(({ name }) => name === up)?.title ?? up;
  const draw = useCallback(
    (colour: Colours) => ({
      data: [
        {
          type: "heatmap",
          x: cells.x.map(valueText),
          y: cells.y.map(valueText),
          z: cells.z,
          xgap: 2,
          ygap: 2,
          colorscale: [
            [0, colour("--bg-inset")],
            [1, colour("--busy")],
          ],
          colorbar: { thickness: 10, outlinewidth: 0, tickfont: { color: colour("--text-3"), size: 11 }, nticks: 6 },
          hovertemplate: `${across.title}: %{x}<br>${upTitle}: %{y}<br><b>%{z:.4s}</b><extra></extra>`,
          ...(cells.x.length * cells.y.length <= WRITTEN_MAX
            ? { text: cells.z.map((row) => row.map((value) => (value === null ? "" : short(value)))), texttemplate: "%{text}", textfont: { color: colour("--text") } }
            : {}),
        },
      ],
      layout: { xaxis: axisOf(colour, across.title, { type: "category" }), yaxis: axisOf(colour, upTitle, { type: "category" }) },
    }),
    [cells, across, upTitle],
  );
  return (
    <Plot
      label={`${title} over ${across.title} and ${upTitle}, heat map`}
      draw={draw}
      revision={`${metric} ${across.name} ${up}`}
      handle={handle}
      onPick={(_, at) => {
        const point = typeof at === "number" ? null : cells.points[at[0]]?.[at[1]];
        const found = results.points.find((one) => one.point === point);
        if (typeof point === "number") view.change({ point: found?.share !== null && found ? `${point}@${found.share}` : String(point) });
      }}
    />
  );
}
