/** Templates, fields and widgets of the schema-driven forms: one look for whatever a registry offers. */
import { getDefaultRegistry } from "@rjsf/core";
import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldProps,
  FieldTemplateProps,
  ObjectFieldTemplateProps,
  RegistryFieldsType,
  RegistryWidgetsType,
  TemplatesType,
  WidgetProps,
} from "@rjsf/utils";
import { useId, useState } from "react";
import type { Json, JsonSchema, Problem, RecordField } from "../../api/types";
import { written } from "../../model/completion";
import { deref, initialValue, labelOf, rangeOf, unitOf } from "../../model/schema";
import { isError, joinPointer } from "../../model/validate";
import { Icon } from "../Icon";
import type { FormSurroundings } from "./context";
import { ExpressionEditor } from "./ExpressionEditor";

const surroundings = (registry: { formContext?: unknown }) => registry.formContext as FormSurroundings;

/** Problems under a field: what is wrong, its value, what would be right. */
export function Remarks({ problems }: { problems: Problem[] }) {
  return problems.map((problem, at) => (
    <p key={at} className={`remark ${isError(problem) ? "err" : "warn"}`}>
      <Icon name={isError(problem) ? "crossc" : "warn"} small />
      <span>
        {problem.message}
        {problem.hint ? ` (${problem.hint})` : ""}
      </span>
    </p>
  ));
}

const toneOf = (problems: Problem[]) => (problems.some(isError) ? "err" : problems.length ? "warn" : "");

function FieldTemplate({ id, fieldPathId, schema, children, hidden, required, registry, formData }: FieldTemplateProps) {
  const { pointer, problems } = surroundings(registry);
  const path = fieldPathId.path;
  if (hidden || schema.const !== undefined) return <div hidden>{children}</div>;
  const name = String(path.at(-1) ?? "");
  const here = joinPointer(pointer, path);
  const own = path.length ? problems.filter((problem) => problem.pointer === here) : [];
  if (path.length === 0) return <div className="fields">{children}</div>;
  if (typeof path.at(-1) === "number" && schema.type === "object")
    return (
      <div data-pointer={here}>
        {children}
        <Remarks problems={own} />
      </div>
    );
  const described = schema as JsonSchema;
  if (schema.type === "boolean") {
    return (
      <div className="field check" data-pointer={here}>
        <label htmlFor={id}>
          {children}
          <b>{labelOf(name, described)}</b>
          <i>{rangeOf(described)}</i>
        </label>
        {schema.description && <p>{sentence(schema.description)}</p>}
        <Remarks problems={own} />
      </div>
    );
  }
  const numbered = typeof path.at(-1) === "number";
  return (
    <div className={`field ${toneOf(own)}`} data-pointer={here} data-required={required && formData === undefined ? "" : undefined}>
      {!numbered && (
        <label htmlFor={id}>
          {labelOf(name, described)}
          <i>{rangeOf(described) || (required ? "" : "optional")}</i>
        </label>
      )}
      {children}
      {schema.description && !numbered && <p>{sentence(schema.description)}</p>}
      <Remarks problems={own} />
    </div>
  );
}

const sentence = (text: string) => {
  const upper = text.replace(/^./, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
};

function ObjectFieldTemplate({ properties, fieldPathId }: ObjectFieldTemplateProps) {
  return <div className={fieldPathId.path.length ? "nested" : "fields"}>{properties.map((property) => property.content)}</div>;
}

function ArrayFieldTemplate({ items, canAdd, onAddClick, fieldPathId }: ArrayFieldTemplateProps) {
  const name = String(fieldPathId.path.at(-1) ?? "item");
  return (
    <div className="list">
      {items}
      {canAdd && (
        <button type="button" className="btn" onClick={onAddClick}>
          <Icon name="plus" small />
          Add {singular(labelOf(name).toLowerCase())}
        </button>
      )}
    </div>
  );
}

const singular = (word: string) => word.replace(/ies$/, "y").replace(/([^s])s$/, "$1");

function ArrayFieldItemTemplate({ children, buttonsProps }: ArrayFieldItemTemplateProps) {
  return (
    <div className="item">
      <div>{children}</div>
      {buttonsProps.hasRemove && (
        <button
          type="button"
          className="btn ghost icon"
          aria-label={`Remove entry ${buttonsProps.index + 1}`}
          onClick={buttonsProps.onRemoveItem}
        >
          <Icon name="cross" small />
        </button>
      )}
    </div>
  );
}

/** A tagged union (`kind`): a choice of branches, then the chosen branch's own fields. */
function TaggedField(props: FieldProps) {
  const { schema, formData, onChange, fieldPathId, registry, options } = props;
  const root = registry.rootSchema as JsonSchema;
  const branches = ((options ?? schema.oneOf ?? schema.anyOf ?? []) as JsonSchema[]).map((branch) => deref(root, branch));
  const tag = (schema.discriminator as { propertyName?: string } | undefined)?.propertyName ?? "kind";
  const tagOf = (branch: JsonSchema) => (branch.properties as { [name: string]: JsonSchema } | undefined)?.[tag]?.const;
  const value = formData as { [name: string]: Json } | undefined;
  const fallback = (schema.default as { [name: string]: Json } | undefined)?.[tag];
  const at = Math.max(
    0,
    branches.findIndex((branch) => tagOf(branch) === (value?.[tag] ?? fallback)),
  );
  const branch = branches[at];
  const { ObjectField } = registry.fields;
  const choose = (index: number) => {
    const next = branches[index];
    if (next)
      onChange(
        { ...initialValue(next, root), ...common(value, next), [tag]: tagOf(next) ?? null },
        fieldPathId.path,
        undefined,
        fieldPathId.$id,
      );
  };
  if (!branch || tagOf(branch) === undefined) return <JsonField {...props} />;
  return (
    <>
      <div className="in">
        <select id={fieldPathId.$id} value={at} onChange={(event) => choose(Number(event.target.value))}>
          {branches.map((one, index) => (
            <option key={index} value={index}>
              {branchTitle(String(tagOf(one)))}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
      {ObjectField && <ObjectField {...props} schema={{ ...branch, title: "" }} formData={value ?? { [tag]: tagOf(branch) ?? null }} />}
    </>
  );
}

const branchTitle = (tag: string) => {
  const words = tag.replace(/_/g, " ");
  return words.replace(/^./, (letter) => letter.toUpperCase());
};

/** Values of the old branch that the new one has under the same name. */
function common(value: { [name: string]: Json } | undefined, next: JsonSchema): { [name: string]: Json } {
  const names = Object.keys((next.properties as object | undefined) ?? {});
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => names.includes(name)));
}

/** A parameter of a type that this page does not know: its value as JSON, or as plain text. */
function JsonField({ formData, onChange, fieldPathId }: FieldProps) {
  const given = formData === undefined ? "" : typeof formData === "string" ? formData : JSON.stringify(formData);
  const [text, setText] = useState(given);
  const [wrong, setWrong] = useState("");
  const change = (next: string) => {
    setText(next);
    const value = readJson(next);
    setWrong(value === BROKEN ? "This is no JSON yet; it is taken as soon as it is." : "");
    if (value !== BROKEN) onChange(value, fieldPathId.path, undefined, fieldPathId.$id);
  };
  return (
    <>
      <div className="in">
        <textarea id={fieldPathId.$id} rows={2} value={text} spellCheck={false} placeholder="JSON" onChange={(event) => change(event.target.value)} />
      </div>
      {wrong && (
        <p className="remark warn">
          <Icon name="warn" small />
          <span>{wrong}</span>
        </p>
      )}
    </>
  );
}

const BROKEN = Symbol("no JSON");

/** What begins as JSON must be JSON; anything else is a text. */
function readJson(text: string): unknown {
  if (!text.trim()) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return /^\s*[[{"]/.test(text) ? BROKEN : text;
  }
}

const { ArrayField: PlainArrayField } = getDefaultRegistry().fields;

/** A list of plain texts is one line, separated by commas; any other list has an entry per item. */
function ArrayField(props: FieldProps) {
  const items = props.schema.items;
  if (typeof items === "object" && !Array.isArray(items) && items.type === "string" && !items.enum) return <TextListField {...props} />;
  return PlainArrayField ? <PlainArrayField {...props} /> : null;
}

function TextListField({ formData, onChange, fieldPathId, registry }: FieldProps) {
  const { records } = surroundings(registry);
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
          placeholder="all"
          spellCheck={false}
          className="mono"
          onChange={(event) => change(event.target.value)}
        />
      </div>
      <FieldChips records={records} chosen={parse(shown)} onPick={(name) => change([...parse(shown), name].join(", "))} />
    </>
  );
}

/** The fields at hand, as buttons. */
function FieldChips({
  records,
  chosen = [],
  onPick,
}: {
  records: { [port: string]: RecordField[] };
  chosen?: string[];
  onPick: (name: string) => void;
}) {
  const seen = new Set(chosen);
  const left = Object.values(records)
    .flat()
    .filter((field) => !seen.has(field.name) && seen.add(field.name));
  if (!left.length) return null;
  return (
    <div className="chips">
      {left.map((field) => (
        <button type="button" key={field.name} title={field.type} onClick={() => onPick(field.name)}>
          {field.name}
        </button>
      ))}
    </div>
  );
}

function TextWidget(props: WidgetProps) {
  const editor = (props.schema as JsonSchema)["x-editor"];
  if (editor === "field") return <FieldWidget {...props} />;
  if (editor === "expression") return <ExpressionWidget {...props} />;
  return <PlainWidget {...props} />;
}

function PlainWidget({ id, value, onChange, schema, name, disabled }: WidgetProps) {
  const numeric = schema.type === "number" || schema.type === "integer";
  const unit = unitOf(name, schema as JsonSchema);
  const fallback = schema.default === undefined || schema.default === null ? "" : String(schema.default);
  return (
    <div className={`in ${disabled ? "off" : ""}`}>
      <input
        id={id}
        type={numeric ? "number" : "text"}
        step={schema.type === "integer" ? 1 : "any"}
        value={(value as string | number | undefined) ?? ""}
        placeholder={fallback}
        disabled={disabled}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
      />
      {unit && <span>{unit}</span>}
    </div>
  );
}

/** Choose a field of the incoming records; a name may be typed as long as they are not known. */
function FieldWidget(props: WidgetProps) {
  const { id, value, onChange, schema, registry, required } = props;
  const { records } = surroundings(registry);
  const port = (schema as JsonSchema)["x-port"];
  const fields = typeof port === "string" ? (records[port] ?? []) : Object.values(records).flat();
  const chosen = typeof value === "string" ? value : "";
  if (!fields.length) return <PlainWidget {...props} />;
  return (
    <div className="in">
      <select id={id} value={chosen} onChange={(event) => onChange(event.target.value || undefined)}>
        {(!chosen || !required) && <option value="">{required ? "choose a field" : "none"}</option>}
        {chosen && !fields.some((field) => field.name === chosen) && <option value={chosen}>{chosen} (unknown)</option>}
        {fields.map((field) => (
          <option key={field.name} value={field.name}>
            {field.name} · {field.type}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </div>
  );
}

function ExpressionWidget({ id, value, onChange, registry, schema }: WidgetProps) {
  const { records } = surroundings(registry);
  const text = typeof value === "string" ? value : "";
  return (
    <>
      <ExpressionEditor
        id={id}
        value={text}
        placeholder={typeof schema.default === "string" ? schema.default : ""}
        fields={Object.values(records).flat()}
        onChange={(next) => onChange(next || undefined)}
      />
      <FieldChips records={records} onPick={(name) => onChange(text ? `${text.trimEnd()} ${written(name)}` : written(name))} />
    </>
  );
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

function CheckboxWidget({ id, value, onChange, schema }: WidgetProps) {
  const ids = useId();
  return (
    <input id={id || ids} type="checkbox" checked={Boolean(value ?? schema.default)} onChange={(event) => onChange(event.target.checked)} />
  );
}

export const templates: Partial<TemplatesType> = { FieldTemplate, ObjectFieldTemplate, ArrayFieldTemplate, ArrayFieldItemTemplate };
export const fields: RegistryFieldsType = { OneOfField: TaggedField, AnyOfField: TaggedField, ArrayField, FallbackField: JsonField };
export const widgets: RegistryWidgetsType = { TextWidget, TextareaWidget: TextWidget, SelectWidget, CheckboxWidget };
