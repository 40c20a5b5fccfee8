/**
 * The form library asks for a validator. The server validates documents (with pointers, values and remedies), so this one
 * finds nothing wrong; it only answers which branch of a union a value looks like. It also compiles no code, which the
 * page's content policy would refuse.
 */
import type { RJSFSchema, ValidatorType } from "@rjsf/utils";

function looksLike(schema: RJSFSchema, value: unknown): boolean {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (typeof field === "object" && field.const !== undefined && (value as Record<string, unknown> | undefined)?.[name] !== field.const)
      return false;
  }
  return true;
}

export const serverValidates: ValidatorType = {
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  isValid: (schema, value) => looksLike(schema, value),
  rawValidation: () => ({ errors: [] }),
};
