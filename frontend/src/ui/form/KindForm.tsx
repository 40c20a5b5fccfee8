import { useId } from "react";
import type { Json, Kind, Problem, RecordField, Tagged } from "../../api/types";
import { initialValue, propertyNames } from "../../model/document/schema";
import { worstTone } from "../../model/document/validate";
import type { Write } from "../../model/document/writes";
import { Icon } from "../Icon";
import { Remarks } from "./Remarks";
import { SchemaForm } from "./SchemaForm";

/** A choice among the kinds of one family, then the chosen kind's own form, both from the registry. */
export function KindForm({
  label,
  bare = false,
  kinds,
  value,
  onChange,
  pointer,
  problems,
  records,
  omit,
}: {
  /** What is chosen; hidden from view where a section's title says it already (`bare`). */
  label: string;
  bare?: boolean;
  kinds: Kind[];
  value: Tagged | undefined;
  /** As of SchemaForm. */
  onChange: (write: Write<Tagged>, group: string) => void;
  pointer: string;
  problems: Problem[];
  records?: { [port: string]: RecordField[] };
  omit?: readonly string[];
}) {
  const id = useId();
  const kind = kinds.find((one) => one.kind === value?.kind);
  const own = problems.filter((problem) => problem.pointer === pointer || problem.pointer === `${pointer}/kind`);
  const choose = (name: string) => {
    const next = kinds.find((one) => one.kind === name);
    if (!next) return;
    const names = propertyNames(next.schema);
    const keptOf = (before: object) => Object.fromEntries(Object.entries(before).filter(([field]) => names.includes(field)));
    onChange((before = value) => ({ ...initialValue(next.schema), ...keptOf(before ?? {}), kind: name }), `${pointer}/kind`);
  };
  const { kind: _tag, ...rest } = value ?? { kind: "" };
  return (
    <div className="fields">
      <div className="field" data-pointer={`${pointer}/kind`}>
        <label htmlFor={id} className={bare ? "vh" : ""}>
          {label}
        </label>
        <div className={`in ${worstTone(own)}`}>
          <select id={id} value={kind?.kind ?? ""} onChange={(event) => choose(event.target.value)}>
            {!kind && <option value="">{value?.kind ? `${value.kind} (unknown)` : "choose"}</option>}
            {kinds.map((one) => (
              <option key={one.kind} value={one.kind}>
                {one.title}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </div>
        {kind?.doc && <p>{kind.doc.split("\n\n")[0]}</p>}
        {kind?.source && (
          <p className="ref">
            <Icon name="book" />
            <span>{kind.source}</span>
          </p>
        )}
        <Remarks problems={own} />
      </div>
      {kind && propertyNames(kind.schema).some((name) => name !== "kind" && !omit?.includes(name)) && (
        <SchemaForm
          key={kind.kind}
          schema={kind.schema}
          value={rest as { [field: string]: Json }}
          pointer={pointer}
          problems={problems}
          {...(records ? { records } : {})}
          omit={["kind", ...(omit ?? [])]}
          // What is shown by default is written with the first field that is set.
          onChange={(write, group) => onChange((before = value) => ({ ...write(before), kind: kind.kind }), group)}
        />
      )}
    </div>
  );
}
