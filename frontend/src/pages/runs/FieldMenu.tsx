import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { runFieldsQuery } from "../../api/queries";
import { found } from "../../lib/search";
import { fieldLabel } from "../../model/run/runFields";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";

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
  const asked = useDeferredValue(search.trim());
  const { data } = useQuery(runFieldsQuery(asked, asked === ""));
  const measured = [...(data?.short.filter((name) => !OF_THE_RUN.has(name)) ?? []), ...(data?.metrics ?? [])];
  const groups: [title: string, names: string[]][] = [
    ["Run", found(offered.own, search, fieldLabel)],
    ["Parameters", offered.parameters ? (data?.parameters ?? []) : []],
    ["Measured", offered.metrics ? measured : []],
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
        {shown.map(([title, names]) => (
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
          </div>
        ))}
        {!shown.length && data && <p className="mut small">{asked ? `No field matches “${asked}”.` : "No run has ended yet."}</p>}
      </div>
    </div>
  );
}

/** Short names that are no metrics. */
const OF_THE_RUN = new Set(["seed", "number", "took", "state", "experiment", "author", "tag"]);
