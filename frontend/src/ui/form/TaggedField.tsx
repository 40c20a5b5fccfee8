import type { FieldProps } from "@rjsf/utils";
import type { Json, JsonSchema } from "../../api/types";
import { branchesOf, initialValue, tagOf } from "../../model/document/schema";
import { Icon } from "../Icon";
import { JsonField } from "./JsonField";

/** A tagged union (`kind`): a choice of branches, then the chosen branch's own fields. */
export function TaggedField(props: FieldProps) {
  const { schema, formData, onChange, fieldPathId, registry, options } = props;
  const root = registry.rootSchema as JsonSchema;
  const union = { ...schema, oneOf: options ?? schema.oneOf ?? schema.anyOf ?? [] } as JsonSchema;
  const { tag, branches } = branchesOf(root, union);
  const value = formData as { [name: string]: Json } | undefined;
  const fallback = (schema.default as { [name: string]: Json } | undefined)?.[tag];
  const at = Math.max(
    0,
    branches.findIndex((branch) => tagOf(branch, tag) === (value?.[tag] ?? fallback)),
  );
  const branch = branches[at];
  const { ObjectField } = registry.fields;
  const choose = (index: number) => {
    const next = branches[index];
    if (next)
      onChange(
        { ...initialValue(next, root), ...common(value, next), [tag]: tagOf(next, tag) ?? null },
        fieldPathId.path,
        undefined,
        fieldPathId.$id,
      );
  };
  if (!branch) return <JsonField {...props} />;
  // The form shows a kind that the document may not name yet: it is written with the first field that is set.
  const setField: FieldProps["onChange"] = (field, path, errors, id) => {
    const [name, deeper] = path.slice(fieldPathId.path.length);
    if (value?.[tag] !== undefined || name === undefined || deeper !== undefined) return onChange(field, path, errors, id);
    return onChange({ ...value, [tag]: tagOf(branch, tag) ?? null, [name]: field as Json }, fieldPathId.path, errors, fieldPathId.$id);
  };
  return (
    <>
      <div className="in">
        <select id={fieldPathId.$id} value={at} onChange={(event) => choose(Number(event.target.value))}>
          {branches.map((one, index) => (
            <option key={index} value={index}>
              {branchTitle(String(tagOf(one, tag)))}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
      {ObjectField && (
        <ObjectField {...props} onChange={setField} schema={{ ...branch, title: "" }} formData={value ?? { [tag]: tagOf(branch, tag) ?? null }} />
      )}
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
