import { useQuery } from "@tanstack/react-query";
import type { PlotlyObject } from "plotly.js-cartesian-dist-min";
import { useCallback, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { pointsQuery, type WhichRuns } from "../../api/queries";
import type { Asked, RunPoints } from "../../api/types";
import { chosenAnew, ofNumbers } from "../../model/run/condition";
import { axisNamed, brushed, colouringOf, leftOutText, logRefusal, POINT_FIELDS, ticksOf, unplacedText, type Axis, type Colouring } from "../../model/run/points";
import { cellText, fieldLabel, type Cell } from "../../model/run/runFields";
import { axisOf as plotAxis, Plot, SERIES, type Brushed, type Colours } from "../../ui/chart/Plot";
import { Loading } from "../../ui/states";
import { toast } from "../../ui/toasts";
import { Choices } from "./Choices";
import { FieldMenu } from "./FieldMenu";
import { Legend } from "./Legend";
import type { Instead } from "./instead";
import { LogSwitch } from "./LogSwitch";

/** So many letters of numbers fit into a link. */
const LASSO_LENGTH_MAX = 1500;

interface Props {
  which: WhichRuns;
  x: string;
  y: string;
  colour: string;
  /** Names of the axes that are logarithmic: x, y. */
  log: string;
  onChange: (changes: { [name: string]: string }) => void;
  onSearch: (search: string) => void;
  instead: Instead;
}

/** The runs found as points. A box writes the ranges of both axes into the search, a lasso the numbers of its runs. */
export function ScatterView({ which, x, y, colour, log, onChange, onSearch, instead }: Props) {
  const fields = useMemo(() => [...new Set([x, y, ...(colour ? [colour] : [])])], [x, y, colour]);
  const { data, error, refetch, isPlaceholderData } = useQuery(pointsQuery(which, fields));
  const [tool, setTool] = useState<"select" | "lasso">("select");
  const axes = useMemo(() => data && scatterAxes(data, x, y, colour, log), [data, x, y, colour, log]);
  const toggle = (name: string) => onChange({ log: log.includes(name) ? log.replace(name, "") : log + name });
  return (
    <section className="panel picture" aria-label="Scatter of the runs" data-testid="scatter" data-runs={isPlaceholderData ? undefined : data?.ids.length}>
      <div className="toolbar">
        <FieldMenu label="x axis" value={x} offered={POINT_FIELDS} onChange={(name) => onChange({ x: name })} />
        <LogSwitch label="x axis" on={log.includes("x")} refusal={axes ? logRefusal(axes.x) : null} onToggle={() => toggle("x")} />
        <FieldMenu label="y axis" value={y} offered={POINT_FIELDS} onChange={(name) => onChange({ y: name })} />
        <LogSwitch label="y axis" on={log.includes("y")} refusal={axes ? logRefusal(axes.y) : null} onToggle={() => toggle("y")} />
        <FieldMenu label="Colour" value={colour} offered={POINT_FIELDS} none="one colour" onChange={(name) => onChange({ colour: name || "none" })} />
        <div className="seg" role="radiogroup" aria-label="Choose points with">
          {(["select", "lasso"] as const).map((one) => (
            <label key={one} title={one === "select" ? "Drag a box: its ranges go into the search" : "Draw around points: their numbers go into the search"}>
              <input type="radio" name="tool" checked={tool === one} onChange={() => setTool(one)} />
              {one === "select" ? "Box" : "Lasso"}
            </label>
          ))}
        </div>
        <Choices search={which.search} fields={axes ? [axes.x.field.name, axes.y.field.name] : []} onSearch={onSearch} />
      </div>
      {error ? (
        instead.refused(error, refetch)
      ) : !data || !axes ? (
        <Loading />
      ) : !data.ids.length ? (
        instead.none
      ) : (
        <Scatter data={data} axes={axes} tool={tool} search={which.search} onSearch={onSearch} />
      )}
    </section>
  );
}

interface Axes {
  x: Axis;
  y: Axis;
  colouring: Colouring;
}

function scatterAxes(data: Asked<RunPoints>, x: string, y: string, colour: string, log: string): Axes | undefined {
  const [across, up] = [axisNamed(data, x, log.includes("x")), axisNamed(data, y, log.includes("y"))];
  // While other fields are on their way, the answer at hand is of the earlier ones.
  if (!across || !up) return undefined;
  return { x: across, y: up, colouring: colouringOf(axisNamed(data, colour, false), data.ids.length) };
}

function Scatter({
  data,
  axes,
  tool,
  search,
  onSearch,
}: {
  data: RunPoints;
  axes: Axes;
  tool: "select" | "lasso";
  search: string;
  onSearch: (search: string) => void;
}) {
  const navigate = useNavigate();
  const { x, y, colouring } = axes;
  const traces = useMemo(() => tracesOf(axes, data.ids.length), [axes, data]);
  const draw = useCallback(
    (colour: Colours) => ({
      data: traces.map((trace, at) => drawn(colour, trace, at, axes, data)),
      layout: {
        xaxis: drawnAxis(colour, x),
        yaxis: drawnAxis(colour, y),
        dragmode: tool,
        selections: [],
        newselection: { line: { color: colour("--accent"), width: 1.5, dash: "solid" } },
        activeselection: { fillcolor: colour("--accent"), opacity: 0.08 },
      },
    }),
    [traces, axes, data, x, y, tool],
  );
  const numberOf = (curve: number, point: number) => traces[curve]?.runs[point];
  /** Boxes that changed nothing, by their number: each is taken away. */
  const [vain, setVain] = useState(0);
  const take = (next: string) => (next === search ? setVain(vain + 1) : onSearch(next));
  const onBrush = ({ box, points }: Brushed) => {
    if (!points.length) {
      take(search);
      return toast(`No run lies in this ${box ? "box" : "lasso"}.`);
    }
    if (box) {
      const across = brushed(x, ...box.x, search);
      const narrowed = across ? chosenAnew(search, x.field.name, across) : search;
      const up = x.field.name === y.field.name ? null : brushed(y, ...box.y, narrowed);
      return take(up ? chosenAnew(narrowed, y.field.name, up) : narrowed);
    }
    const condition = ofNumbers(points.flatMap(({ curve, point }) => data.numbers[numberOf(curve, point) ?? -1] ?? []));
    if (condition.length > LASSO_LENGTH_MAX)
      return toast(`The lasso holds ${points.length.toLocaleString("en-US")} runs, too many for a link. Drag a box instead.`, { tone: "err" });
    take(chosenAnew(search, "number", condition));
  };
  const said = [leftOutText(data.ids.length, data.count), unplacedText([x, y])].filter(Boolean).join(" ");
  return (
    <>
      <Legend colouring={colouring} />
      <div className="plot">
        <Plot
          label={`${y.title} over ${x.title}, ${data.ids.length.toLocaleString("en-US")} runs; the table below lists them`}
          draw={draw}
          revision={`${x.title} ${y.title} ${x.scale} ${y.scale} ${search} ${tool} ${vain}`}
          onPick={(curve, point) => {
            const id = typeof point === "number" ? data.ids[numberOf(curve, point) ?? -1] : undefined;
            if (id) void navigate(`/runs/${id}`);
          }}
          onBrush={onBrush}
        />
      </div>
      <p className="note small" role="status">
        {said}
      </p>
    </>
  );
}

/** The runs of one colour, by their place among all. */
interface Trace {
  label: string;
  runs: number[];
}

function tracesOf({ colouring }: Axes, count: number): Trace[] {
  const all = Array.from({ length: count }, (_, at) => at);
  if (colouring.along) return [{ label: "", runs: all }];
  return colouring.classes.map(({ label }, of) => ({ label, runs: all.filter((at) => colouring.classOf[at] === of) }));
}

function drawn(colour: Colours, { label, runs }: Trace, at: number, { x, y, colouring }: Axes, data: RunPoints): PlotlyObject {
  const { token, symbol } = SERIES[at % SERIES.length] as (typeof SERIES)[number];
  const { along } = colouring;
  const own = along
    ? {
        color: runs.map((run) => along.cells[run] ?? null),
        colorscale: [
          [0, colour("--bg-inset")],
          [1, colour("--busy")],
        ],
        showscale: true,
        colorbar: { title: { text: along.title, side: "right" }, thickness: 10, outlinewidth: 0, tickfont: { color: colour("--text-3"), size: 11 }, nticks: 6 },
        line: { color: colour("--line-control"), width: 0.5 },
        symbol: "circle",
      }
    : { color: colour(token), symbol, line: { color: colour(token), width: symbol.endsWith("open") ? 2 : 0 } };
  return {
    type: "scatter",
    mode: "markers",
    name: label,
    x: runs.map((run) => coordinate(x, x.cells[run] ?? null)),
    y: runs.map((run) => coordinate(y, y.cells[run] ?? null)),
    marker: { size: data.ids.length > 1000 ? 5 : 8, opacity: data.ids.length > 1000 ? 0.7 : 0.9, ...own },
    text: runs.map((run) => pointText(data, run)),
    hovertemplate: "%{text}<extra></extra>",
  };
}

/** Categories by their position, so that a text never reads as a number. */
const coordinate = (axis: Axis, cell: Cell) => (axis.scale === "category" ? axis.categories.indexOf(cell) : cell);

function pointText(data: RunPoints, run: number): string {
  const lines = data.fields.map((field, at) => `${fieldLabel(field.name)}: ${cellText((data.columns[at]?.[run] ?? null) as Cell, field.unit)}`);
  return [`<b>Run ${data.numbers[run]}</b>`, ...lines.map((line) => line.replace(/</g, "&lt;"))].join("<br>");
}

const LABELS_MAX = 12;

function drawnAxis(colour: Colours, axis: Axis): PlotlyObject {
  if (axis.scale === "linear") return plotAxis(colour, axis.title, { type: "linear" });
  const ticks = ticksOf(axis);
  const every = Math.ceil(ticks.length / LABELS_MAX);
  const shown = ticks.filter((_, at) => at % every === 0);
  return plotAxis(colour, axis.title, {
    ...(axis.scale === "log" ? { type: "log" } : { type: "linear", range: [-0.5, axis.categories.length - 0.5] }),
    tickmode: "array",
    tickvals: shown.map(({ at }) => at),
    ticktext: shown.map(({ text }) => (text.length > 24 ? `${text.slice(0, 22)}…` : text).replace(/</g, "&lt;")),
  });
}
