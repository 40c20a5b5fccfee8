/**
 * Editors of single values, by the word that a schema asks for them with (`x-editor`). A page may add its own (`addEditors`); what has
 * none is edited by the type of its value.
 */
import { useQuery } from "@tanstack/react-query";
import { createElement, useState, type ComponentType, type ReactNode } from "react";
import { registryQuery } from "../../api/queries";
import type { Json, JsonSchema, RecordField } from "../../api/types";
import { completionsAt, written, type ExpressionFunction } from "../../model/document/completion";
import { labelOf, unitOf } from "../../model/document/schema";
import { Icon } from "../Icon";
import { NumberInput } from "../NumberInput";
import type { FormSurroundings } from "./context";
import { ExpressionEditor } from "./ExpressionEditor";

export interface EditorProps {
  id: string;
  /** Of the property. */
  name: string;
  /** JSON pointer of the value in the document, where problems of the field are collected. */
  pointer?: string;
  value: unknown;
  schema: JsonSchema;
  required: boolean;
  disabled: boolean;
  around: FormSurroundings;
  /** undefined: the document is to say nothing about it. */
  onChange: (value: unknown) => void;
}

const EDITORS = new Map<string, ComponentType<EditorProps>>();

export function addEditors(editors: { [word: string]: ComponentType<EditorProps> }): void {
  for (const [word, editor] of Object.entries(editors)) EDITORS.set(word, editor);
}

const askedFor = (schema: JsonSchema) => (typeof schema["x-editor"] === "string" ? EDITORS.get(schema["x-editor"]) : undefined);

export const hasEditor = (schema: JsonSchema) => askedFor(schema) !== undefined;

/** The editor that the schema asks for, or the one for any number or text. */
export const Editor = (props: EditorProps) => createElement(askedFor(props.schema) ?? PlainEditor, props);

export function PlainEditor(props: EditorProps) {
  const { id, name, value, schema, disabled, onChange } = props;
  if (schema.type === "number" || schema.type === "integer") return <NumberEditor {...props} />;
  const unit = unitOf(name, schema);
  return (
    <div className={`in ${disabled ? "off" : ""}`}>
      <input
        id={id}
        value={typeof value === "string" || typeof value === "number" ? value : ""}
        placeholder={fallbackOf(schema)}
        disabled={disabled}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
      />
      {unit && <span>{unit}</span>}
    </div>
  );
}

const fallbackOf = ({ default: fallback }: JsonSchema) => (fallback === undefined || fallback === null ? "" : String(fallback));
const bound = (value: Json | undefined) => (typeof value === "number" ? value : undefined);

function NumberEditor({ id, name, pointer, value, schema, disabled, steps, onChange }: EditorProps & { steps?: [ReactNode, ReactNode] }) {
  return (
    <NumberInput
      id={id}
      label={labelOf(name, schema)}
      {...(pointer === undefined ? {} : { pointer })}
      unit={unitOf(name, schema)}
      value={value}
      least={bound(schema.minimum)}
      most={bound(schema.maximum)}
      placeholder={fallbackOf(schema)}
      disabled={disabled}
      {...(steps ? { around: steps } : {})}
      onChange={onChange}
    />
  );
}

/** Choose a field of the incoming records; a name may be typed as long as they are not known. */
function FieldEditor(props: EditorProps) {
  const { id, value, onChange, schema, around, required } = props;
  const port = schema["x-port"];
  const fields = typeof port === "string" ? (around.records[port] ?? []) : Object.values(around.records).flat();
  const chosen = typeof value === "string" ? value : "";
  if (!fields.length) return <PlainEditor {...props} />;
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

const NO_FUNCTIONS: ExpressionFunction[] = [];

function Expression({ id, value, onChange, around, schema }: EditorProps) {
  const { data: registry } = useQuery(registryQuery);
  const functions = (registry?.functions as ExpressionFunction[] | undefined) ?? NO_FUNCTIONS;
  const fields = Object.values(around.records).flat();
  const text = typeof value === "string" ? value : "";
  return (
    <>
      <ExpressionEditor
        id={id}
        value={text}
        placeholder={typeof schema.default === "string" ? schema.default : ""}
        functions={functions}
        complete={(typed, caret, wanted) => completionsAt(typed, caret, fields, functions, wanted)}
        onChange={(next) => onChange(next || undefined)}
      />
      <FieldChips records={around.records} onPick={(name) => onChange(text ? `${text.trimEnd()} ${written(name)}` : written(name))} />
    </>
  );
}

/** A whole number in small steps, within the bounds of its schema. */
function Count(props: EditorProps) {
  const { value, schema, onChange } = props;
  const now = Number(value ?? schema.default ?? 0);
  const [least, most] = [bound(schema.minimum) ?? -Infinity, bound(schema.maximum) ?? Infinity];
  const step = (by: number, label: string, limit: string, at: boolean) => (
    <button type="button" aria-label={label} title={at ? limit : label} disabled={at} onClick={() => onChange(now + by)}>
      <Icon name={by < 0 ? "minus" : "plus"} small />
    </button>
  );
  const less = step(-1, "One less", `At least ${least}`, now <= least);
  return <NumberEditor {...props} steps={[less, step(1, "One more", `At most ${most}`, now >= most)]} />;
}

/** So many fields or hosts are offered as buttons; more have to be typed. */
const CHIPS_MAX = 40;

/** The fields at hand, as buttons. */
export function FieldChips({
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
    <div className="field-chips">
      {left.slice(0, CHIPS_MAX).map((field) => (
        <button type="button" key={field.name} title={field.type} onClick={() => onPick(field.name)}>
          {field.name}
        </button>
      ))}
      {left.length > CHIPS_MAX && <small>and {(left.length - CHIPS_MAX).toLocaleString("en-US")} more, by name</small>}
    </div>
  );
}

/** A text that counts when the field is left, and is put back by Escape. `refusal`: why it cannot be, or nothing. */
export function CommittedText({
  id,
  value,
  placeholder,
  marks,
  offered = [],
  refusal = () => "",
  onCommit,
}: {
  id: string;
  value: string;
  placeholder?: string;
  /** Attributes by which keys find the field. */
  marks?: { [name: `data-${string}`]: string };
  /** Texts to choose from; others can be written. */
  offered?: string[];
  refusal?: (text: string) => string;
  onCommit: (text: string) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? value;
  const why = text === value ? "" : refusal(text);
  return (
    <>
      <div className={`in ${why ? "err" : ""}`}>
        <input
          id={id}
          className="mono"
          value={text}
          placeholder={placeholder}
          spellCheck={false}
          {...(offered.length > 0 && { list: `${id}-offered` })}
          {...marks}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={() => {
            setTyped(null);
            if (text !== value && !why) onCommit(text);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !why) event.currentTarget.blur();
            if (event.key === "Escape") setTyped(null);
          }}
        />
        {offered.length > 0 && (
          <datalist id={`${id}-offered`}>
            {offered.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        )}
      </div>
      {why && (
        <p className="remark err">
          <Icon name="crossc" small />
          <span>{why}</span>
        </p>
      )}
    </>
  );
}

/** Sentences; they count when the field is left. */
function Prose({ id, value, schema, onChange }: EditorProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <div className="in prose">
      <textarea
        id={id}
        rows={4}
        maxLength={typeof schema.maxLength === "number" ? schema.maxLength : undefined}
        value={typed ?? String(value ?? "")}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => {
          if (typed !== null && typed !== (value ?? "")) onChange(typed);
          setTyped(null);
        }}
      />
    </div>
  );
}

addEditors({ prose: Prose, field: FieldEditor, expression: Expression, count: Count });
