import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { LISTED_FIELDS_MAX, runFieldsQuery } from "../../api/queries";
import { found } from "../../lib/search";
import { useSettled } from "../../lib/useSettled";
import { fieldLabel } from "../../model/run/runFields";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { Failure, Loading } from "../../ui/states";

export interface Offered {
  /** Fields of the run itself. */
  own: readonly string[];
  metrics: boolean;
  parameters: boolean;
}

interface Choosing {
  offered: Offered;
  chosen: readonly string[];
  onToggle: (name: string) => void;
  /** Why a field cannot be chosen now; empty if it can. */
  refusal?: (name: string) => string;
}

/** Chooses one field of the runs. none: what it says without one, where there may be none. */
export function FieldMenu({
  label,
  value,
  offered,
  none,
  refusal,
  onChange,
}: {
  label: string;
  value: string;
  offered: Offered;
  none?: string;
  refusal?: (name: string) => string;
  onChange: (name: string) => void;
}) {
  return (
    <span className="choice">
      <span className="mut small">{label}</span>
      <Menu
        title={`${label}: ${value ? fieldLabel(value) : (none ?? "choose a field")}`}
        className="btn"
        label={
          <>
            <span className="ell">{value ? fieldLabel(value) : (none ?? "Choose a field")}</span>
            <Icon name="down" small />
          </>
        }
      >
        {(close) => (
          <FieldList
            offered={offered}
            chosen={[value]}
            none={none}
            refusal={refusal}
            onToggle={(name) => {
              close();
              onChange(name);
            }}
          />
        )}
      </Menu>
    </span>
  );
}

/** Chooses several fields of the runs, at least one and at most so many. */
export function FieldsMenu({
  label,
  values,
  offered,
  most,
  onChange,
}: {
  label: string;
  values: readonly string[];
  offered: Offered;
  most: number;
  onChange: (names: string[]) => void;
}) {
  const refusal = (name: string) =>
    values.includes(name)
      ? values.length === 1
        ? "At least one is needed"
        : ""
      : values.length >= most
        ? `At most ${most}; remove another one first`
        : "";
  return (
    <span className="choice">
      <span className="mut small">{label}</span>
      <Menu
        title={`${label}: ${values.map(fieldLabel).join(", ")}`}
        className="btn"
        label={
          <>
            <span className="ell">{values.map(fieldLabel).join(", ")}</span>
            <Icon name="down" small />
          </>
        }
      >
        {() => (
          <FieldList
            offered={offered}
            chosen={values}
            refusal={refusal}
            onToggle={(name) => onChange(values.includes(name) ? values.filter((one) => one !== name) : [...values, name])}
          />
        )}
      </Menu>
    </span>
  );
}

/** The fields to choose from: without a search those of the run, what is measured, and the parameters in which runs differ. */
export function FieldList({ offered, chosen, onToggle, refusal, none }: Choosing & { none?: string | undefined }) {
  const [search, setSearch] = useState("");
  const asked = useSettled(search.trim());
  const { data, error, refetch } = useQuery(runFieldsQuery(asked, asked === ""));
  const measured = [...(data?.short.filter((name) => !OF_THE_RUN.has(name)) ?? []), ...(data?.metrics ?? [])];
  const isCut = (names: string[] = []) => names.length >= LISTED_FIELDS_MAX;
  const groups: [title: string, names: string[], isCut: boolean][] = [
    ["Run", found(offered.own, search, fieldLabel), false],
    ["Parameters", offered.parameters ? (data?.parameters ?? []) : [], isCut(data?.parameters)],
    ["Measured", offered.metrics ? measured : [], isCut(data?.metrics)],
  ];
  const shown = groups.filter(([, names]) => names.length);
  return (
    <div className="field-list">
      <label className="find">
        <Icon name="search" />
        <input autoFocus aria-label="Search fields" placeholder="Search fields" value={search} onChange={(event) => setSearch(event.target.value)} />
      </label>
      <div className="scroll">
        {none && !asked && (
          <button aria-pressed={chosen.includes("")} onClick={() => onToggle("")}>
            {chosen.includes("") ? <Icon name="check" /> : <span />}
            {none}
          </button>
        )}
        {shown.map(([title, names, isShort]) => (
          <div key={title} role="group" aria-label={title}>
            <h3>{title === "Parameters" && !asked ? "Parameters that differ" : title}</h3>
            {names.map((name) => {
              const on = chosen.includes(name);
              const why = refusal?.(name) ?? "";
              return (
                <button key={name} aria-pressed={on} disabled={Boolean(why)} title={why || name} onClick={() => onToggle(name)}>
                  {on ? <Icon name="check" /> : <span />}
                  <span className="ell">{fieldLabel(name)}</span>
                  <small>{data?.units[name] ?? ""}</small>
                </button>
              );
            })}
            {isShort && <p className="mut small">{asked ? "Refine the search to see more." : "Search to see more."}</p>}
          </div>
        ))}
        {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading lines={3} />)}
        {!shown.length && data && <p className="mut small">{asked ? `No field matches “${asked}”.` : "No run has ended yet."}</p>}
      </div>
    </div>
  );
}

/** Short names that are no metrics. */
const OF_THE_RUN = new Set(["seed", "number", "took", "state", "experiment", "author", "tag"]);
