/** Which field edits which kind of value. */
import { getDefaultRegistry } from "@rjsf/core";
import type { FieldProps, RegistryFieldsType } from "@rjsf/utils";
import { useMemo } from "react";
import type { JsonSchema } from "../../api/types";
import { deref } from "../../model/document/schema";
import { joinPointer } from "../../model/document/validate";
import { surroundings } from "./context";
import { Editor } from "./editors";
import { JsonField } from "./JsonField";
import { ArrayField } from "./listFields";
import { MapField } from "./MapField";
import { isMap, isSimple } from "./shapes";
import { TaggedField } from "./TaggedField";

const { ObjectField: PlainObjectField, SchemaField: PlainSchemaField, StringField } = getDefaultRegistry().fields;

/** The form reports which field was changed by a pointer from its root, not by the id of an element. */
function SchemaField(props: FieldProps) {
  const { fieldPathId, onChange } = props;
  const isRoot = fieldPathId.path.length === 0;
  const report = useMemo(
    (): FieldProps["onChange"] => (isRoot ? (value, path, errors) => onChange(value, path, errors, joinPointer("", path)) : onChange),
    [isRoot, onChange],
  );
  return PlainSchemaField ? <PlainSchemaField {...props} onChange={report} /> : null;
}

/** Not the library's own, which reads and writes numbers with the decimal comma of the browser's language. */
function NumberField(props: FieldProps) {
  const { fieldPathId, name, formData, schema, registry, required, disabled, onChange } = props;
  if (schema.enum) return StringField ? <StringField {...props} /> : null;
  const around = surroundings(registry);
  return (
    <Editor
      id={fieldPathId.$id}
      name={name}
      pointer={joinPointer(around.pointer, fieldPathId.path)}
      value={formData as unknown}
      schema={schema as JsonSchema}
      required={Boolean(required)}
      disabled={Boolean(disabled)}
      around={around}
      onChange={(value) => onChange(value, fieldPathId.path, undefined, fieldPathId.$id)}
    />
  );
}

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

export const fields: RegistryFieldsType = {
  OneOfField: TaggedField,
  AnyOfField: TaggedField,
  ArrayField,
  ObjectField,
  NumberField,
  SchemaField,
  FallbackField: JsonField,
};
