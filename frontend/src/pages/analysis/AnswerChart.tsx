import { useCallback, useMemo } from "react";
import type { AnalysisKind, Answer, Column } from "../../api/analysis";
import { short } from "../../lib/format";
import { cellsOf, marksOf, type Mark } from "../../model/run/analysis";
import { axisOf, intervalBars, logTicks, Plot, type Colours } from "../../ui/chart/Plot";

/** Numbers in the cells as long as they can be read. */
const WRITTEN_MAX = 120;
/** Values that span more than this are drawn over a logarithmic axis. */
const WIDE = 50;

interface Drawn {
  kind: AnalysisKind;
  answer: Answer;
  metric: string;
  /** The metric's title and unit. */
  about: Column | undefined;
}

export function AnswerChart({ kind, answer, metric, about }: Drawn) {
  const title = kind === "surface" ? (answer.title ?? "") : kind === "comparison" ? "Difference" : (about?.title ?? "");
  const unit = kind === "surface" ? (answer.unit ?? "") : kind === "comparison" ? "% of the base" : (about?.unit ?? "");
  const marks = useMemo(() => marksOf(kind, answer, metric), [kind, answer, metric]);
  const draw = useCallback(
    (colour: Colours) => (kind === "surface" ? surface(answer, colour) : points(kind, marks, `${title}${unit && `, ${unit}`}`, colour)),
    [kind, answer, marks, title, unit],
  );
  if (kind === "surface" ? !answer.rows.length : !marks.length) return <p className="note">None of these runs has it.</p>;
  return (
    <div className="plot">
      <Plot label={`${title}${kind === "surface" ? ` over ${answer.x} and ${answer.y}` : ""}; the table below has the numbers`} draw={draw} revision={metric} />
    </div>
  );
}

function points(kind: AnalysisKind, marks: Mark[], title: string, colour: Colours) {
  const ys = marks.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]);
  const wide = kind !== "comparison" && Math.min(...ys) > 0 && Math.max(...ys) / Math.min(...ys) > WIDE;
  const own = colour("--s1");
  const named = kind !== "summaries" && marks.some(({ x }) => typeof x === "string");
  const range = ({ low, high }: Mark) => (low !== null && high !== null ? ` (${short(low)} to ${short(high)})` : "");
  return {
    data: [
      {
        type: "scatter",
        mode: "markers",
        x: marks.map(({ x }) => x),
        y: marks.map(({ y }) => y),
        text: marks.map((mark) => `${kind === "summaries" ? `#${mark.x}` : asText(String(mark.x))}: <b>${short(mark.y)}</b>${range(mark)}`),
        hovertemplate: "%{text}<extra></extra>",
        marker: { color: own, size: marks.length > 200 ? 4 : 8 },
        error_y: intervalBars(marks, own, marks.length <= 200),
      },
    ],
    layout: {
      xaxis: axisOf(colour, kind === "summaries" ? "Run" : "", named ? { type: "category" } : {}),
      yaxis: axisOf(colour, title, wide ? logTicks(ys) : { type: "linear", rangemode: kind === "comparison" ? "normal" : "tozero" }),
      shapes: kind === "comparison" ? [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: 0, y1: 0, line: { color: colour("--line-control"), width: 1 } }] : [],
    },
  };
}

function surface(answer: Answer, colour: Colours) {
  const { x, y, z } = cellsOf(answer);
  const [across, up] = [lastPart(answer.x), lastPart(answer.y)];
  return {
    data: [
      {
        type: "heatmap",
        x: x.map(String),
        y: y.map(String),
        z,
        xgap: 2,
        ygap: 2,
        colorscale: [
          [0, colour("--bg-inset")],
          [1, colour("--busy")],
        ],
        colorbar: { thickness: 10, outlinewidth: 0, tickfont: { color: colour("--text-3"), size: 11 }, nticks: 6 },
        hovertemplate: `${asText(across)}: %{x}<br>${asText(up)}: %{y}<br><b>%{z:.4s}</b><extra></extra>`,
        ...(x.length * y.length <= WRITTEN_MAX
          ? { text: z.map((row) => row.map((value) => (value === null ? "" : short(value)))), texttemplate: "%{text}", textfont: { color: colour("--text") } }
          : {}),
      },
    ],
    layout: { xaxis: axisOf(colour, across, { type: "category" }), yaxis: axisOf(colour, up, { type: "category" }) },
  };
}

const lastPart = (pointer = "") => pointer.split("/").at(-1) ?? pointer;

/** Names come from documents; the chart takes them as they are written. */
const asText = (text: string) => text.replace(/</g, "&lt;");
