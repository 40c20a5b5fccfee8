import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { pointsQuery, type WhichRuns } from "../../api/queries";
import { chosenAnew, outwards } from "../../model/run/condition";
import { axisNamed, brushed, colouringOf, leftOutText, ofCategories, POINT_FIELDS, unplacedText, type Axis } from "../../model/run/points";
import { cellText, type Cell } from "../../model/run/runFields";
import { Menu } from "../../ui/Menu";
import { Loading } from "../../ui/states";
import { Choices } from "./Choices";
import { FieldMenu, FieldsMenu } from "./FieldMenu";
import type { Instead } from "./instead";
import { Legend } from "./Legend";
import { LogSwitch } from "./LogSwitch";
import { axisLeft, axisWidth, ParallelChart } from "./ParallelChart";

const AXES_MAX = 8;

interface Props {
  which: WhichRuns;
  fields: string[];
  colour: string;
  /** "1": axes of numbers above 0 are logarithmic. */
  log: string;
  onChange: (changes: { [name: string]: string }) => void;
  onSearch: (search: string) => void;
  instead: Instead;
}

/** The runs found as lines across parallel axes. A stretch of an axis, or its menu, writes the range into the search. */
export function ParallelView({ which, fields, colour, log, onChange, onSearch, instead }: Props) {
  const asked = useMemo(() => [...new Set([...fields, ...(colour ? [colour] : [])])], [fields, colour]);
  const { data, error, refetch, isPlaceholderData } = useQuery(pointsQuery(which, asked));
  const navigate = useNavigate();
  const isLog = log !== "";
  const axes = useMemo(() => data && fields.flatMap((name) => axisNamed(data, name, isLog) ?? []), [data, fields, isLog]);
  const colouring = useMemo(() => data && colouringOf(axisNamed(data, colour, false), data.ids.length), [data, colour]);
  const choose = (axis: Axis, condition: string | null) => condition && onSearch(chosenAnew(which.search, axis.field.name, condition));
  return (
    <section
      className="panel picture"
      aria-label="Parallel coordinates of the runs"
      data-testid="parallel"
      data-runs={isPlaceholderData ? undefined : data?.ids.length}
    >
      <div className="toolbar">
        <FieldsMenu label="Axes" values={fields} offered={POINT_FIELDS} most={AXES_MAX} onChange={(names) => onChange({ axes: names.join(",") })} />
        <LogSwitch label="Axes" on={isLog} title="Axes of numbers above 0 are logarithmic" onToggle={() => onChange({ log: isLog ? "" : "xy" })} />
        <FieldMenu label="Colour" value={colour} offered={POINT_FIELDS} none="one colour" onChange={(name) => onChange({ colour: name || "none" })} />
        <Choices search={which.search} fields={axes?.map(({ field }) => field.name) ?? []} onSearch={onSearch} />
      </div>
      {error ? (
        instead.refused(error, refetch)
      ) : !data || !axes?.length || !colouring ? (
        <Loading />
      ) : !data.ids.length ? (
        instead.none
      ) : (
        <>
          <Legend colouring={colouring} lines />
          <div className="plot">
            <ParallelChart
              axes={axes}
              colouring={colouring}
              label={`${data.ids.length.toLocaleString("en-US")} runs across ${axes.map(({ title }) => title).join(", ")}; the table below lists them`}
              nameOf={(run) => `Run ${data.numbers[run]}`}
              onBrush={(axis, from, to) => choose(axis, brushed(axis, from, to, which.search))}
              onOpen={(run) => void navigate(`/runs/${data.ids[run]}`)}
            />
            <div className="axis-titles">
              {axes.map((axis, at) => (
                <span key={axis.field.name} className="axis-title" style={{ left: axisLeft(at, axes.length), width: axisWidth(axes.length) }}>
                  <AxisMenu axis={axis} search={which.search} onChoose={(condition) => choose(axis, condition)} />
                </span>
              ))}
            </div>
          </div>
          <p className="note small" role="status">
            {[leftOutText(data.ids.length, data.count), unplacedText(axes)].filter(Boolean).join(" ")}
          </p>
        </>
      )}
    </section>
  );
}

/** What dragging along an axis does, by keyboard: the ends of a range, or categories. */
function AxisMenu({ axis, search, onChoose }: { axis: Axis; search: string; onChoose: (condition: string) => void }) {
  return (
    <Menu className="btn ghost" title={`${axis.title}: choose a range`} label={<span className="ell">{axis.title}</span>}>
        {(close) => {
          const choose = (condition: string | null) => {
            close();
            if (condition) onChoose(condition);
          };
          return axis.scale === "category" ? (
            <CategoryForm axis={axis} onChoose={choose} />
          ) : (
            <RangeForm axis={axis} onChoose={(low, high) => choose(brushed(axis, low, high, search))} />
          );
        }}
    </Menu>
  );
}

function RangeForm({ axis, onChoose }: { axis: Axis; onChoose: (low: number, high: number) => void }) {
  const [ends, setEnds] = useState<string[]>(() => outwards(axis.extent ?? [0, 0]));
  const numbers = ends.map(Number);
  const [low = NaN, high = NaN] = numbers;
  const inside = axis.cells.some((cell) => typeof cell === "number" && cell >= low && cell <= high);
  const why = ends.some((end) => !end.trim()) || numbers.some((number) => !Number.isFinite(number))
    ? "Enter a number for each end"
    : low > high
      ? "Enter the smaller end first"
      : inside
        ? ""
        : "No run lies in this range";
  return (
    <form
      className="range"
      onSubmit={(event) => {
        event.preventDefault();
        if (!why) onChoose(low, high);
      }}
    >
      {["From", "To"].map((label, at) => (
        <label key={label} className="in">
          <span>{label}</span>
          <input
            autoFocus={at === 0}
            inputMode="decimal"
            value={ends[at]}
            onChange={(event) => setEnds(ends.map((end, place) => (place === at ? event.target.value : end)))}
          />
          <span>{axis.field.unit}</span>
        </label>
      ))}
      <button className="btn primary" disabled={Boolean(why)} title={why || "Show the runs in this range"}>
        Show
      </button>
      {why && <p className="mut small">{why}</p>}
    </form>
  );
}

function CategoryForm({ axis, onChoose }: { axis: Axis; onChoose: (condition: string | null) => void }) {
  const [chosen, setChosen] = useState<readonly Cell[]>([]);
  return (
    <form
      className="range"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen.length) onChoose(ofCategories(axis.field, chosen));
      }}
    >
      <div className="scroll">
        {axis.categories.map((cell, at) => {
          const on = chosen.includes(cell);
          const apart = cell === null ? chosen.some((one) => one !== null) : chosen.includes(null);
          return (
            <label key={at} title={apart ? "A search chooses runs with a value or those without, not both" : ""}>
              <input
                type="checkbox"
                checked={on}
                disabled={apart}
                onChange={() => setChosen(on ? chosen.filter((one) => one !== cell) : [...chosen, cell])}
              />
              <span className="ell">{cellText(cell, axis.field.unit)}</span>
            </label>
          );
        })}
      </div>
      <button className="btn primary" disabled={!chosen.length} title={chosen.length ? "Show the runs with these values" : "Choose a value first"}>
        Show
      </button>
    </form>
  );
}
