import Form from "@rjsf/core";
import type { RJSFSchema } from "@rjsf/utils";
import { useMemo } from "react";
import type { Json, JsonSchema, Problem, RecordField } from "../../api/types";
import { formSchema, propertyNames } from "../../model/document/schema";
import { pointerParts } from "../../model/document/validate";
import { valueAt, writeAt, type Write } from "../../model/document/writes";
import type { FormSurroundings } from "./context";
import { fields } from "./fields";
import { templates } from "./templates";
import { serverValidates } from "./validator";
import { widgets } from "./widgets";
import "./form.css";

type Fields = { [field: string]: Json };
const NO_FIELDS = {};
/**
 * A form for one JSON Schema. Defaults are shown, not written: the document holds only what somebody chose.
 * `onChange` gets a change of one field, to be applied to the value as it is by then: what else was written meanwhile, by the form or
 * beside it, stays. It is called for edits only, never for what the library fills in by itself.
 */
export function SchemaForm({
  schema,
  value,
  onChange,
  pointer,
  problems,
  records = NO_FIELDS,
  omit,
  only,
  idPrefix,
}: {
  schema: JsonSchema;
  value: Fields | undefined;
  /** group: the same for edits of the same field. */
  onChange: (write: Write<Fields>, group: string) => void;
  /** JSON pointer of `value` in the document. */
  pointer: string;
  problems: Problem[];
  records?: { [port: string]: RecordField[] };
  /** Names of properties that are edited elsewhere. */
  omit?: readonly string[];
  /** Names of the properties that are edited here, where most are not. */
  only?: readonly string[];
  /** Of the elements' ids, before the names of the fields; by default it follows from the pointer. */
  idPrefix?: string;
}) {
  const omitted = (only ? propertyNames(schema).filter((name) => !only.includes(name)) : (omit ?? [])).join();
  const ready = useMemo(() => formSchema(schema, omitted.split(",")) as RJSFSchema, [schema, omitted]);
  const given = value ?? NO_FIELDS;
  const context: FormSurroundings = useMemo(() => ({ pointer, problems, records, value: given }), [pointer, problems, records, given]);
  return (
    <Form
      schema={ready}
      formData={given}
      validator={serverValidates}
      tagName="div"
      noValidate
      showErrorList={false}
      templates={templates}
      fields={fields}
      widgets={widgets}
      formContext={context}
      idPrefix={idPrefix ?? `form${pointer.replace(/\//g, "-")}`}
      {...(idPrefix ? { idSeparator: "-" } : {})}
      experimental_defaultFormStateBehavior={{ emptyObjectFields: "skipDefaults", constAsDefaults: "never" }}
      onChange={(event, changed) => {
        if (changed === undefined) return;
        const path = pointerParts(changed);
        onChange(writeAt(path, valueAt(event.formData, path)), pointer + changed);
      }}
    >
      <></>
    </Form>
  );
}
