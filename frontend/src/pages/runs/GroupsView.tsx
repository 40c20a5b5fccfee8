import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { GROUPS_PER_PAGE, groupsQuery, type WhichRuns } from "../../api/queries";
import type { MeasuredOfGroup, RunField, RunGroup } from "../../api/types";
import { plural } from "../../lib/format";
import { ariaSort, nextOrder } from "../../lib/order";
import { scaleOf, type Scale } from "../../model/run/groups";
import { cellText, fieldLabel } from "../../model/run/runFields";
import { Pager } from "../../ui/Pager";
import { Loading } from "../../ui/states";
import { FieldMenu, FieldsMenu } from "./FieldMenu";
import type { Instead } from "./instead";

const MEASURES_MAX = 4;
const KEYS = { own: ["experiment", "author", "state", "tag"], metrics: false, parameters: true };
/** The order that nobody has chosen. */
const BY_GROUP = "group";
const SECOND_NONE = "nothing else";

export interface Grouping {
  by: string;
  then: string;
  measures: string[];
  order: string;
}

/** What the groups are made of. */
export function GroupTools({ grouping, onChange }: { grouping: Grouping; onChange: (changes: { [name: string]: string }) => void }) {
  const { by, then, measures } = grouping;
  const other = (name: string) => (one: string) => (one === name ? "The runs are already grouped by it" : "");
  return (
    <>
      <FieldMenu label="By" value={by} offered={KEYS} refusal={other(then)} onChange={(name) => onChange({ by: name, order: "" })} />
      <FieldMenu
        label="then"
        value={then}
        offered={KEYS}
        none={SECOND_NONE}
        refusal={other(by)}
        onChange={(name) => onChange({ then: name, order: "" })}
      />
      <FieldsMenu
        label="Measures"
        values={measures}
        offered={{ own: ["took"], metrics: true, parameters: false }}
        most={MEASURES_MAX}
        onChange={(names) => onChange({ measures: names.join(","), order: "" })}
      />
    </>
  );
}

/** The runs found in groups; the name of a group leads to the list of its runs. */
export function GroupsView({
  which,
  grouping,
  offset,
  onOrder,
  onOffset,
  instead,
  linkTo,
}: {
  which: WhichRuns;
  grouping: Grouping;
  offset: number;
  onOrder: (order: string) => void;
  onOffset: (offset: string) => void;
  instead: Instead;
  /** The address of the list for a search. */
  linkTo: (search: string) => string;
}) {
  const { by, then, measures } = grouping;
  const order = grouping.order || BY_GROUP;
  const sort = (next: string) => onOrder(next === BY_GROUP ? "" : next);
  const keys = then ? [by, then] : [by];
  const { data, error, refetch, isPlaceholderData } = useQuery(groupsQuery(which, keys, measures, order, offset));
  return (
    <>
      <section className="panel" aria-label="Groups of runs" data-testid="groups">
        <div className="scroll" aria-busy={isPlaceholderData} style={isPlaceholderData ? { opacity: 0.6 } : undefined} tabIndex={0}>
          {error ? (
            instead.refused(error, refetch)
          ) : !data ? (
            <Loading />
          ) : !data.count ? (
            instead.none
          ) : (
            <table className="table groups">
              <caption className="vh">
                {plural(data.runs, "run")} in {plural(data.count, "group")}
              </caption>
              <thead>
                <tr>
                  {data.by.map((field, at) => (
                    <Head key={field.name} label={fieldLabel(field.name)} {...(at ? {} : { order: BY_GROUP })} sort={order} onSort={sort} />
                  ))}
                  <Head label="Runs" order="runs" number sort={order} onSort={sort} />
                  {data.measures.map((field) => (
                    <MeasureHeads key={field.name} field={field} sort={order} onSort={sort} />
                  ))}
                </tr>
              </thead>
              <Rows groups={data.items} by={data.by} measures={data.measures} linkTo={linkTo} />
            </table>
          )}
        </div>
      </section>
      {data && <Pager offset={offset} size={GROUPS_PER_PAGE} count={data.count} onOffset={onOffset} />}
    </>
  );
}

function Head({
  label,
  order,
  number = false,
  sort,
  onSort,
  title,
}: {
  label: string;
  order?: string;
  number?: boolean;
  sort: string;
  onSort: (order: string) => void;
  title?: string;
}) {
  return (
    <th className={number ? "num" : ""} aria-sort={order ? ariaSort(sort, order) : undefined}>
      {order ? (
        <button onClick={() => onSort(nextOrder(sort, order, BY_GROUP))} title={title ?? `Sort by ${label.toLowerCase()}`}>
          {label}
          {ariaSort(sort, order) === "none" ? "" : sort.startsWith("-") ? "▼" : "▲"}
        </button>
      ) : (
        label
      )}
    </th>
  );
}

function MeasureHeads({ field, sort, onSort }: { field: RunField; sort: string; onSort: (order: string) => void }) {
  const label = fieldLabel(field.name);
  const head = (statistic: string, text: string) => (
    <Head label={text} order={`${statistic}:${field.name}`} number sort={sort} onSort={onSort} title={`Sort by the ${statistic} of ${label}`} />
  );
  return (
    <>
      {head("median", `${label}, median`)}
      {head("min", "min")}
      {head("max", "max")}
      <th>Spread and mean over seeds</th>
    </>
  );
}

function Rows({
  groups,
  by,
  measures,
  linkTo,
}: {
  groups: readonly RunGroup[];
  by: readonly RunField[];
  measures: readonly RunField[];
  linkTo: (search: string) => string;
}) {
  const scales = measures.map((_, at) => scaleOf(groups.flatMap((group) => group.measures[at] ?? [])));
  return (
    <tbody>
      {groups.map((group) => {
        const name = group.values.map((value, at) => cellText(value, by[at]?.unit)).join(", ");
        return (
          <tr key={group.search}>
            {group.values.map((value, at) => (
              <td key={at} className="key">
                {at === 0 ? (
                  <Link to={linkTo(group.search)} title={`Show the ${plural(group.runs, "run")}: ${group.search}`} aria-label={`Runs of the group ${name}`}>
                    <b className={value === null ? "unset" : ""}>{cellText(value, by[at]?.unit)}</b>
                  </Link>
                ) : (
                  <span className={value === null ? "unset" : ""}>{cellText(value, by[at]?.unit)}</span>
                )}
              </td>
            ))}
            <td className="num">{group.runs.toLocaleString("en-US")}</td>
            {group.measures.map((measured, at) => (
              <Measured key={at} measured={measured} unit={measures[at]?.unit ?? ""} scale={scales[at] ?? null} />
            ))}
          </tr>
        );
      })}
    </tbody>
  );
}

function Measured({ measured, unit, scale }: { measured: MeasuredOfGroup; unit: string; scale: Scale | null }) {
  const { median, min, max, over_seeds: over } = measured;
  const text = (value: number | null) => (value === null ? <span className="mut">–</span> : cellText(value, unit));
  return (
    <>
      <td className="num">
        <b>{text(median)}</b>
      </td>
      <td className="num mut">{text(min)}</td>
      <td className="num mut">{text(max)}</td>
      <td className="spread">
        <span>
          {scale && <SpreadBar measured={measured} scale={scale} unit={unit} />}
          {over && (
            <small
              title={`Mean over ${over.count} seeds, with 95 % interval (Student's t) from ${cellText(over.low, unit)} to ${cellText(over.high, unit)}`}
            >
              {cellText(over.mean, unit)} ± {cellText((over.high - over.low) / 2, unit)}
            </small>
          )}
        </span>
      </td>
    </>
  );
}

const WIDTH = 120;
const HEIGHT = 16;
const PAD = 3;

/** From the least to the greatest value, a mark at the median, and a thick line for the interval over seeds. */
function SpreadBar({ measured, scale, unit }: { measured: MeasuredOfGroup; scale: Scale; unit: string }) {
  const { median, min, max, over_seeds: over, count } = measured;
  if (median === null || min === null || max === null) return <svg width={WIDTH} height={HEIGHT} aria-hidden="true" />;
  const x = (value: number) => PAD + Math.min(1, Math.max(0, scale.place(value))) * (WIDTH - 2 * PAD);
  const label = `${cellText(min, unit)} to ${cellText(max, unit)}, median ${cellText(median, unit)}, of ${plural(count, "run")}${scale.isLog ? "; logarithmic" : ""}`;
  return (
    <svg className="spread-bar" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <path d={`M${x(min)} 8H${x(max)}M${x(min)} 5v6M${x(max)} 5v6`} className="range" />
      {over && (over.low > 0 || !scale.isLog) && <path d={`M${x(over.low)} 8H${x(over.high)}`} className="interval" />}
      <circle cx={x(median)} cy="8" r="3.5" />
    </svg>
  );
}
