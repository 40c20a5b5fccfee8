import type { Json, Problem, RecordField } from "../../api/types";

/** What every field of a form may need besides its schema. */
export interface FormSurroundings {
  /** JSON pointer of the form's value in the document. */
  pointer: string;
  /** The form's value as it is now: what one field offers may depend on another. */
  value: { [field: string]: Json };
  /** All problems of the document; a field shows those at its own pointer. */
  problems: Problem[];
  /** Fields of the records at each input port, for choosing a field and for expressions. */
  records: { [port: string]: RecordField[] };
}

/** What a form was given beside its value. */
export const surroundings = (registry: { formContext?: unknown }) => registry.formContext as FormSurroundings;
