/** Which kind of control a schema asks for. */
import { ADDITIONAL_PROPERTY_FLAG } from "@rjsf/utils";
import type { JsonSchema } from "../../api/types";
import { hasEditor } from "./editors";

/** Lists in one line and values by name: what is wrong with one of them stands below all. */
export function isEditedWhole(schema: JsonSchema): boolean {
  if (schema.type === "array") return hasEditor(schema) || (schema.items as JsonSchema | undefined)?.type === "string";
  return isMap(schema);
}

/** Yes, no, or nothing said: a document may leave it out, and no default stands for it. */
export const isOpenBoolean = ({ type, default: fallback }: { type?: unknown; default?: unknown }): boolean =>
  type === "boolean" && fallback === undefined;

/** Values by any name. The form library enters the names that there are among the properties, and marks them. */
export function isMap({ additionalProperties, properties }: JsonSchema): boolean {
  const named = Object.values((properties ?? {}) as { [name: string]: JsonSchema });
  return typeof additionalProperties === "object" && named.every((one) => ADDITIONAL_PROPERTY_FLAG in one);
}

/** One value in one line. */
export const isSimple = ({ type }: JsonSchema) => ["number", "integer", "string"].includes(String(type));
