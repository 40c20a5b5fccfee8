/** Templates, fields and widgets of the schema-driven forms: one look for whatever a registry offers. */
import { getDefaultRegistry } from "@rjsf/core";
import { ADDITIONAL_PROPERTY_FLAG } from "@rjsf/utils";
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
import type { Json, JsonSchema, Problem } from "../../api/types";
import { deref, initialValue, labelOf, rangeOf } from "../../model/document/schema";
import { isError, joinPointer } from "../../model/document/validate";
import { Icon } from "../Icon";
import type { FormSurroundings } from "./context";
import { Editor, FieldChips, hasEditor } from "./editors";
import { MapField } from "./MapField";

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
  const whole = isEditedWhole(schema as JsonSchema);
  const own = path.length
    ? problems.filter((problem) => problem.pointer === here || (whole && problem.pointer.startsWith(`${here}/`)))
    : [];
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
      {numbered ? (
        <label htmlFor={id} className="vh">
          {labelOf(String(path.at(-2) ?? "entry"))} {Number(path.at(-1)) + 1}
        </label>
      ) : (
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

/** Lists in one line and values by name: what is wrong with one of them stands below all. */
function isEditedWhole(schema: JsonSchema): boolean {
  if (schema.type === "array") return hasEditor(schema) || (schema.items as JsonSchema | undefined)?.type === "string";
  return isMap(schema);
}

/** Values by any name. The form library enters the names that there are among the properties, and marks them. */
function isMap({ additionalProperties, properties }: JsonSchema): boolean {
  const named = Object.values((properties ?? {}) as { [name: string]: JsonSchema });
  return typeof additionalProperties === "object" && named.every((one) => ADDITIONAL_PROPERTY_FLAG in one);
}

const sentence = (text: string) => {
  const upper = text.replace(/^./, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
};

function ObjectFieldTemplate({ properties, fieldPathId }: ObjectFieldTemplateProps) {
  return <div className={fieldPathId.path.length ? "nested" : "fields"}>{properties.map((property) => property.content)}</div>;
}

function ArrayFieldTemplate({ items, canAdd, onAddClick, fieldPathId, schema }: ArrayFieldTemplateProps) {
  const name = String(fieldPathId.path.at(-1) ?? "item");
  return (
    <div className={`list ${Array.isArray(schema.items) ? "fixed" : ""}`}>
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

const { ArrayField: PlainArrayField, ObjectField: PlainObjectField } = getDefaultRegistry().fields;

const isSimple = ({ type }: JsonSchema) => ["number", "integer", "string"].includes(String(type));

/** An object without properties of its own holds values by name: simple ones, or a few of them each, in lines, others as JSON. */
function ObjectField(props: FieldProps) {
  if (isMap(props.schema as JsonSchema)) {
    const root = props.registry.rootSchema as JsonSchema;
    const values = deref(root, props.schema.additionalProperties as JsonSchema);
    const parts = Object.values((values.properties ?? {}) as { [name: string]: JsonSchema }).map((part) => deref(root, part));
    const inLines = isSimple(values) || (parts.length > 0 && parts.every(isSimple));
    return inLines ? <MapField {...props} /> : <JsonField {...props} />;
  }
  return PlainObjectField ? <PlainObjectField {...props} /> : null;
}

/** A list of plain texts is one line, separated by commas; any other list has an entry per item. */
function ArrayField(props: FieldProps) {
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

function TextListField({ formData, onChange, fieldPathId, registry, required }: FieldProps) {
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
          placeholder={required ? "" : "all"}
          spellCheck={false}
          className="mono"
          onChange={(event) => change(event.target.value)}
        />
      </div>
      <FieldChips records={records} chosen={parse(shown)} onPick={(name) => change([...parse(shown), name].join(", "))} />
    </>
  );
}

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

function CheckboxWidget({ id, value, onChange, schema }: WidgetProps) {
  const ids = useId();
  return (
    <input id={id || ids} type="checkbox" checked={Boolean(value ?? schema.default)} onChange={(event) => onChange(event.target.checked)} />
  );
}

export const templates: Partial<TemplatesType> = { FieldTemplate, ObjectFieldTemplate, ArrayFieldTemplate, ArrayFieldItemTemplate };
export const fields: RegistryFieldsType = {
  OneOfField: TaggedField,
  AnyOfField: TaggedField,
  ArrayField,
  ObjectField,
  FallbackField: JsonField,
};
export const widgets: RegistryWidgetsType = { TextWidget, TextareaWidget: TextWidget, SelectWidget, CheckboxWidget };
