import type { FieldProps } from "@rjsf/utils";
import { useState } from "react";
import type { JsonSchema } from "../../api/types";
import { labelOf } from "../../model/schema";
import { Icon } from "../Icon";
import type { FormSurroundings } from "./context";
import { Editor } from "./editors";

type Entries = { [name: string]: unknown };

/** Values by name: a line for each. The values are numbers or texts, as `additionalProperties` says. */
export function MapField({ schema, formData, onChange, fieldPathId, registry, name, disabled }: FieldProps) {
  const around = registry.formContext as FormSurroundings;
  const entries = (formData ?? {}) as Entries;
  const values = (typeof schema.additionalProperties === "object" ? schema.additionalProperties : {}) as JsonSchema;
  const [added, setAdded] = useState("");
  const change = (next: Entries) => onChange(Object.keys(next).length ? next : undefined, fieldPathId.path, undefined, fieldPathId.$id);
  const without = (gone: string) => Object.fromEntries(Object.entries(entries).filter(([one]) => one !== gone));
  const numeric = values.type === "number" || values.type === "integer";
  const read = (value: unknown) => (numeric && typeof value === "string" ? Number(value) : (value ?? (numeric ? 0 : "")));
  const first = numeric ? Math.max(Number(values.minimum ?? 0), 0) : "";
  const add = () => {
    if (added && !(added in entries)) change({ ...entries, [added]: first });
    setAdded("");
  };
  return (
    <div className="map" role="group" aria-label={labelOf(name, schema as JsonSchema)}>
      {Object.entries(entries).map(([one, value]) => (
        <div key={one} className="entry" data-pointer={`${around.pointer}/${fieldPathId.path.join("/")}/${one}`}>
          <label htmlFor={`${fieldPathId.$id}_${one}`} className="mono ell" title={one}>
            {one}
          </label>
          <Editor
            id={`${fieldPathId.$id}_${one}`}
            name={name}
            value={value}
            schema={values}
            required
            disabled={Boolean(disabled)}
            around={around}
            onChange={(next) => change({ ...entries, [one]: read(next) })}
          />
          <button type="button" className="btn ghost icon" aria-label={`Remove ${one}`} onClick={() => change(without(one))}>
            <Icon name="cross" small />
          </button>
        </div>
      ))}
      <div className="entry">
        <div className="in">
          <input
            id={fieldPathId.$id}
            value={added}
            placeholder="name"
            spellCheck={false}
            onChange={(event) => setAdded(event.target.value)}
            onBlur={add}
            onKeyDown={(event) => event.key === "Enter" && add()}
          />
        </div>
        <button type="button" className="btn" disabled={!added} title={added ? "" : "Give the name of the new entry first"} onClick={add}>
          <Icon name="plus" small />
          Add
        </button>
      </div>
    </div>
  );
}
