/** Controls of single values. */
import type { RegistryWidgetsType, WidgetProps } from "@rjsf/utils";
import { useId } from "react";
import type { JsonSchema } from "../../api/types";
import { Icon } from "../Icon";
import { surroundings } from "./context";
import { Editor } from "./editors";
import { isOpenBoolean } from "./shapes";

function TextWidget({ id, name, value, onChange, schema, registry, required, disabled }: WidgetProps) {
  const common = { id, name, value: value as unknown, schema: schema as JsonSchema, around: surroundings(registry) };
  return <Editor {...common} required={Boolean(required)} disabled={Boolean(disabled)} onChange={onChange} />;
}

function SelectWidget({ id, value, onChange, options, schema, required }: WidgetProps) {
  const choices = options.enumOptions ?? [];
  const fallback = schema.default;
  return (
    <div className="in">
      <select
        id={id}
        value={String(value ?? fallback ?? "")}
        onChange={(event) => onChange(choices.find((one) => String(one.value) === event.target.value)?.value)}
      >
        {value === undefined && fallback === undefined && <option value="">{required ? "choose" : "none"}</option>}
        {choices.map((one) => (
          <option key={String(one.value)} value={String(one.value)}>
            {one.label.replace(/_/g, " ")}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </div>
  );
}

const SAID: [value: boolean, words: string][] = [[true, "yes"], [false, "no"]];

/** A switch, or a choice of three where a document may also say nothing. */
function CheckboxWidget({ id, value, onChange, schema }: WidgetProps) {
  const ids = useId();
  if (isOpenBoolean(schema))
    return (
      <div className="in">
        <select
          id={id || ids}
          value={String(value ?? "")}
          onChange={(event) => onChange(SAID.find(([said]) => String(said) === event.target.value)?.[0])}
        >
          <option value="">not set</option>
          {SAID.map(([said, words]) => (
            <option key={words} value={String(said)}>
              {words}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
    );
  return (
    <input id={id || ids} type="checkbox" checked={Boolean(value ?? schema.default)} onChange={(event) => onChange(event.target.checked)} />
  );
}

export const widgets: RegistryWidgetsType = { TextWidget, TextareaWidget: TextWidget, SelectWidget, CheckboxWidget };
