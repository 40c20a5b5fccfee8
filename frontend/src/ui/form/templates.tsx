/** What stands around every field: its label, range and description, lists with their buttons, and what is wrong. */
import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldTemplateProps,
  ObjectFieldTemplateProps,
  TemplatesType,
} from "@rjsf/utils";
import type { Json, JsonSchema } from "../../api/types";
import { countFields, isAdvanced, labelOf, rangeOf } from "../../model/document/schema";
import { joinPointer, problemsAt, worstTone } from "../../model/document/validate";
import { Icon } from "../Icon";
import { Advanced } from "./Advanced";
import { surroundings } from "./context";
import { Remarks } from "./Remarks";
import { isEditedWhole, isOpenBoolean } from "./shapes";

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
  if (schema.type === "boolean" && !isOpenBoolean(schema)) {
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
    <div className={`field ${worstTone(own)}`} data-pointer={here} data-required={required && formData === undefined ? "" : undefined}>
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

const sentence = (text: string) => {
  const upper = text.replace(/^./, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
};

function ObjectFieldTemplate({ properties, fieldPathId, schema, formData, registry }: ObjectFieldTemplateProps) {
  const { pointer, problems } = surroundings(registry);
  const about = (schema.properties ?? {}) as { [name: string]: JsonSchema };
  const folded = properties.filter(({ name }) => isAdvanced(about[name]));
  const values = (formData ?? {}) as { [name: string]: Json };
  const counts = folded.map(({ name }) => countFields(registry.rootSchema as JsonSchema, about[name] ?? {}, values[name]));
  const isWrong = folded.some(({ name }) => problemsAt(problems, joinPointer(pointer, [...fieldPathId.path, name])).length > 0);
  return (
    <div className={fieldPathId.path.length ? "nested" : "fields"}>
      {properties.filter((one) => !folded.includes(one)).map(({ content }) => content)}
      {folded.length > 0 && (
        <Advanced count={sum(counts.map(({ fields }) => fields))} changed={sum(counts.map(({ changed }) => changed))} open={isWrong}>
          {folded.map(({ content }) => content)}
        </Advanced>
      )}
    </div>
  );
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

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

export const templates: Partial<TemplatesType> = { FieldTemplate, ObjectFieldTemplate, ArrayFieldTemplate, ArrayFieldItemTemplate };
