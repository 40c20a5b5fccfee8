import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { runFieldsQuery } from "../../api/queries";
import { useSettled } from "../../lib/useSettled";
import { conditionRefusal, SIGNS, withCondition, type Sign } from "../../model/run/condition";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";

const UNIT_EXAMPLES: { [unit: string]: string } = { ms: "10s", s: "500ms", "/s": "5k/s", B: "20MB", MB: "2GB" };

/** Adds a condition on a metric or a parameter to the search. */
export function FilterMenu({ search, onSearch }: { search: string; onSearch: (search: string) => void }) {
  return (
    <Menu
      title="Filter runs by metrics or by parameters"
      className="btn"
      label={
        <>
          <Icon name="filter" />
          Filter
        </>
      }
    >
      {(close) => (
        <FilterForm
          onAdd={(name, sign, value) => {
            onSearch(withCondition(search, name, sign, value));
            close();
          }}
        />
      )}
    </Menu>
  );
}

function FilterForm({ onAdd }: { onAdd: (name: string, sign: Sign, value: string) => void }) {
  const [name, setName] = useState("");
  const [sign, setSign] = useState<Sign>(">");
  const [value, setValue] = useState("");
  const asked = useSettled(name.trim());
  const { data } = useQuery(runFieldsQuery(asked));
  const unit = data?.units[name.trim()] ?? "";
  const why = conditionRefusal(name, value);
  return (
    <form
      className="condition"
      aria-label="Filter by a condition"
      onSubmit={(event) => {
        event.preventDefault();
        if (!why) onAdd(name, sign, value);
      }}
    >
      <div className="field">
        <label htmlFor="condition-name">
          Metric or parameter<i>* for any part</i>
        </label>
        <div className="in">
          <input
            id="condition-name"
            list="condition-names"
            value={name}
            placeholder="p99, records_out, per_s, ..."
            autoFocus
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <datalist id="condition-names">
          {[...(data?.short ?? []), ...(data?.metrics ?? []), ...(data?.parameters ?? [])].map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </div>
      <div className="two">
        <div className="in">
          <select aria-label="Comparison" value={sign} onChange={(event) => setSign(event.target.value as Sign)}>
            {SIGNS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </div>
        <div className="in">
          <input aria-label="Value" value={value} onChange={(event) => setValue(event.target.value)} aria-describedby="condition-unit" />
          <span>{unit}</span>
        </div>
      </div>
      <p id="condition-unit" className="mut small">
        {unit ? `A plain number is in ${unit}; give another unit after it, as in ${UNIT_EXAMPLES[unit] ?? `10${unit}`}.` : "Large numbers may be written as 5k or 2M."}{" "}
        With = a value may be a range, 1..10, or have alternatives, 1|2.
      </p>
      <button className="btn primary" disabled={why !== null} title={why ?? "Show the matching runs"}>
        Add filter
      </button>
    </form>
  );
}
