import type { FieldProps } from "@rjsf/utils";
import { useState } from "react";
import type { JsonSchema } from "../../api/types";
import { deref, labelOf } from "../../model/document/schema";
import { joinPointer, toneOf } from "../../model/document/validate";
import { Icon } from "../Icon";
import { surroundings, type FormSurroundings } from "./context";
import { Editor, hasEditor } from "./editors";

type Entries = { [name: string]: unknown };

const isNumeric = ({ type }: JsonSchema) => type === "number" || type === "integer";

/**
 * Values by name: a line for each. The values are numbers, texts, or a few of these with names of their own, as `additionalProperties`
 * says. What names the entries may be chosen with an editor (`x-keys`).
 */
export function MapField({ schema, formData, onChange, fieldPathId, registry, name, disabled }: FieldProps) {
  const around = surroundings(registry);
  const root = registry.rootSchema as JsonSchema;
  const entries = (formData ?? {}) as Entries;
  const values = deref(root, (typeof schema.additionalProperties === "object" ? schema.additionalProperties : {}) as JsonSchema);
  const change = (next: Entries) => onChange(Object.keys(next).length ? next : undefined, fieldPathId.path, undefined, fieldPathId.$id);
  const without = (gone: string) => Object.fromEntries(Object.entries(entries).filter(([one]) => one !== gone));
  const simple = values.properties === undefined;
  const empty = simple ? "" : undefined;
  const first = simple ? (isNumeric(values) ? Math.max(Number(values.minimum ?? 0), 0) : "") : {};
  const parts = Object.entries((values.properties ?? {}) as { [part: string]: JsonSchema }).map(
    ([part, about]): [string, JsonSchema] => [part, deref(root, about)],
  );
  const here = (one: string) => joinPointer(around.pointer, [...fieldPathId.path, one]);
  const common = { required: simple, disabled: Boolean(disabled), around };
  const add = (added: string) => {
    if (added && !(added in entries)) change({ ...entries, [added]: first });
  };
  return (
    <div className="map" role="group" aria-label={labelOf(name, schema as JsonSchema)}>
      {Object.entries(entries).map(([one, value]) => (
        <div
          key={one}
          className={`entry ${simple ? "" : "parts"} ${simple && isWrong(around, here(one)) ? "err" : ""}`}
          data-pointer={here(one)}
          {...(simple ? {} : { role: "group", "aria-label": one })}
        >
          {simple ? (
            <>
              <label htmlFor={`${fieldPathId.$id}_${one}`} className="mono ell" title={one}>
                {one}
              </label>
              <div>
                <Editor
                  id={`${fieldPathId.$id}_${one}`}
                  name={name}
                  pointer={here(one)}
                  value={value}
                  schema={values}
                  {...common}
                  onChange={(next) => change({ ...entries, [one]: next ?? (isNumeric(values) ? 0 : empty) })}
                />
              </div>
            </>
          ) : (
            <>
              <span className="mono ell" title={one}>
                {one}
              </span>
              <Parts
                id={`${fieldPathId.$id}_${one}`}
                here={here(one)}
                value={(value ?? {}) as Entries}
                parts={parts}
                common={common}
                onChange={(next) => change({ ...entries, [one]: next })}
              />
            </>
          )}
          <button type="button" className="btn ghost icon" aria-label={`Remove ${one}`} onClick={() => change(without(one))}>
            <Icon name="cross" small />
          </button>
        </div>
      ))}
      <Adding id={fieldPathId.$id} name={name} keys={keysOf(schema as JsonSchema, Object.keys(entries))} common={common} onAdd={add} />
    </div>
  );
}

/** An editor for names, if the schema asks for one that there is. */
function keysOf(schema: JsonSchema, taken: string[]): JsonSchema | null {
  const keys: JsonSchema = { type: "string", "x-editor": schema["x-keys"] ?? "", "x-taken": taken };
  return hasEditor(keys) ? keys : null;
}

/** In what way stands below all entries. */
const isWrong = ({ problems }: FormSurroundings, pointer: string) =>
  problems.some((problem) => problem.pointer === pointer && toneOf(problem) === "err");

type Common = { required: boolean; disabled: boolean; around: FormSurroundings };

/** One entry's own fields; those that are left empty are not written. */
function Parts({
  id,
  here,
  value,
  parts,
  common,
  onChange,
}: {
  id: string;
  /** JSON pointer of the entry. */
  here: string;
  value: Entries;
  parts: [part: string, about: JsonSchema][];
  common: Common;
  onChange: (value: Entries) => void;
}) {
  const set = (part: string, next: unknown) => {
    const others = Object.fromEntries(Object.entries(value).filter(([one]) => one !== part));
    onChange(next === undefined ? others : { ...others, [part]: next });
  };
  return parts.map(([part, about]) => (
    <span key={part} className={`part ${isWrong(common.around, joinPointer(here, [part])) ? "err" : ""}`}>
      <label htmlFor={`${id}_${part}`} title={typeof about.description === "string" ? about.description : undefined}>
        {labelOf(part, about)}
      </label>
      <Editor
        id={`${id}_${part}`}
        name={part}
        pointer={joinPointer(here, [part])}
        value={value[part]}
        schema={{ ...about, "x-unit": "" }}
        {...common}
        onChange={(next) => set(part, next)}
      />
    </span>
  ));
}

function Adding({
  id,
  name,
  keys,
  common,
  onAdd,
}: {
  id: string;
  name: string;
  keys: JsonSchema | null;
  common: Common;
  onAdd: (name: string) => void;
}) {
  const [added, setAdded] = useState("");
  const add = () => {
    onAdd(added);
    setAdded("");
  };
  if (keys)
    return (
      <div className="entry">
        <Editor id={id} name={name} value="" schema={keys} {...common} required onChange={(next) => typeof next === "string" && onAdd(next)} />
      </div>
    );
  return (
    <div className="entry">
      <div className="in">
        <input
          id={id}
          value={added}
          placeholder="name"
          spellCheck={false}
          onChange={(event) => setAdded(event.target.value)}
          onBlur={add}
          onKeyDown={(event) => event.key === "Enter" && add()}
        />
      </div>
      <button type="button" className="btn" disabled={!added} title={added ? "" : "Enter the name of the new entry first"} onClick={add}>
        <Icon name="plus" small />
        Add
      </button>
    </div>
  );
}
