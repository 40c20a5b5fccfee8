/** Which field edits which kind of value. */
import { getDefaultRegistry } from "@rjsf/core";
import type { FieldProps, RegistryFieldsType } from "@rjsf/utils";
import type { JsonSchema } from "../../api/types";
import { deref } from "../../model/document/schema";
import { JsonField } from "./JsonField";
import { ArrayField } from "./listFields";
import { MapField } from "./MapField";
import { isMap, isSimple } from "./shapes";
import { TaggedField } from "./TaggedField";

const { ObjectField: PlainObjectField } = getDefaultRegistry().fields;

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
  FallbackField: JsonField,
};
