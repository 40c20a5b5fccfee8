/** Lists: with an editor of their own, in one line, or with an entry per item. */
import { getDefaultRegistry } from "@rjsf/core";
import type { FieldProps } from "@rjsf/utils";
import { useState } from "react";
import type { JsonSchema, RecordField } from "../../api/types";
import { surroundings } from "./context";
import { Editor, FieldChips, hasEditor } from "./editors";

const { ArrayField: PlainArrayField } = getDefaultRegistry().fields;

/** A list of plain texts is one line, separated by commas; any other list has an entry per item. */
export function ArrayField(props: FieldProps) {
  const items = props.schema.items;
  if (hasEditor(props.schema as JsonSchema)) {
    const { fieldPathId, name, formData, schema, registry, required, disabled, onChange } = props;
    const common = { id: fieldPathId.$id, name, value: formData as unknown, schema: schema as JsonSchema, around: surroundings(registry) };
    const change = (value: unknown) => onChange(value, fieldPathId.path, undefined, fieldPathId.$id);
    return <Editor {...common} required={Boolean(required)} disabled={Boolean(disabled)} onChange={change} />;
  }
  if (typeof items === "object" && !Array.isArray(items) && items.type === "string" && !items.enum) return <TextListField {...props} />;
  return PlainArrayField ? <PlainArrayField {...props} /> : null;
}

interface FieldsWanted {
  "x-port"?: string;
  "x-field-types"?: string[];
}

const offered = (records: { [port: string]: RecordField[] }, { "x-port": wanted, "x-field-types": types }: FieldsWanted) =>
  Object.fromEntries(
    Object.entries(records)
      .filter(([port]) => wanted === undefined || port === wanted)
      .map(([port, fields]) => [port, fields.filter(({ type }) => types === undefined || types.includes(type))]),
  );

/** Names of fields, unless `x-items` is "text": of those at the port `x-port`, and of the types `x-field-types`, if it names any. */
function TextListField({ schema, formData, onChange, fieldPathId, registry, required }: FieldProps) {
  const isPlain = (schema as { "x-items"?: string })["x-items"] === "text";
  const records = offered(surroundings(registry).records, schema as FieldsWanted);
  const given = ((formData as string[] | undefined) ?? []).join(", ");
  const [text, setText] = useState(given);
  const parse = (line: string) =>
    line
      .split(",")
      .map((word) => word.trim())
      .filter(Boolean);
  // What is typed stays as typed, until the list changes from elsewhere (undo, a chip).
  const shown = parse(text).join(", ") === given ? text : given;
  const change = (line: string) => {
    setText(line);
    const list = parse(line);
    onChange(list.length ? list : undefined, fieldPathId.path, undefined, fieldPathId.$id);
  };
  return (
    <>
      <div className="in">
        <input
          id={fieldPathId.$id}
          value={shown}
          placeholder={required ? "" : isPlain ? "none" : "all"}
          spellCheck={false}
          className="mono"
          onChange={(event) => change(event.target.value)}
        />
      </div>
      {!isPlain && <FieldChips records={records} chosen={parse(shown)} onPick={(name) => change([...parse(shown), name].join(", "))} />}
    </>
  );
}
