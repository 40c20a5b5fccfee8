/** What somebody chooses about how a file is read, as the document that the server completes (docs/data-sets.md). */
import type { Reading, ReadColumn, UploadPreview, UploadProblem } from "../../api/types";

/** Choices for one column; what is not there is detected. */
export type ColumnChoice = { [Field in Exclude<keyof ReadColumn, "written">]?: ReadColumn[Field] | undefined };

/** Choices for a file. columns: by their position in the file. zone: of all times that do not carry their own. */
export type Chosen = { [Field in Exclude<keyof Reading, "columns">]?: Reading[Field] | undefined } & {
  zone?: string;
  columns: Record<number, ColumnChoice>;
};

export const NOTHING_CHOSEN: Chosen = { columns: {} };

/** A choice of what makes the columns: those of the columns chosen before are gone with them. */
export const withFrame = (chosen: Chosen, change: Pick<Partial<Reading>, "delimiter" | "header">): Chosen => ({ ...chosen, ...change, columns: {} });

export const withColumn = (chosen: Chosen, at: number, change: ColumnChoice): Chosen => ({
  ...chosen,
  columns: { ...chosen.columns, [at]: { ...chosen.columns[at], ...change } },
});

/** The document of the choices. written: the names of the file's columns, as far as they are known. */
export function documentOf({ zone, columns, ...file }: Chosen, written: string[]): object {
  const listed = written.map((name, at) => ({ written: name, ...(zone ? { time_zone: zone } : {}), ...columns[at] }));
  return { ...file, ...(zone || Object.keys(columns).length ? { columns: listed } : {}) };
}

/** Words for no value, as a field of text has them. */
export const wordsOf = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);

/** Columns that the table of a preview has: a page cannot draw thousands. */
export const COLUMNS_SHOWN_MAX = 100;

/** What is wrong with one column. */
export function problemsOf(preview: UploadPreview, at: number): UploadProblem[] {
  return preview.problems.filter(({ pointer }) => columnOf(pointer) === at);
}

/** What is wrong with the file as a whole, and with columns that are not shown. */
export function otherProblems(preview: UploadPreview): UploadProblem[] {
  return preview.problems.filter(({ pointer }) => (columnOf(pointer) ?? COLUMNS_SHOWN_MAX) >= COLUMNS_SHOWN_MAX);
}

export const reasonsOf = (preview: UploadPreview, pointer: string): string[] =>
  preview.reasons.filter((reason) => reason.pointer === pointer).map((reason) => reason.text);

function columnOf(pointer: string): number | null {
  const found = /^\/columns\/(\d+)/.exec(pointer);
  return found ? Number(found[1]) : null;
}

/** What a fill that somebody writes is in the column's type; undefined for none, the text itself where it is none. */
export function fillOf(text: string, type: ReadColumn["type"]): ReadColumn["fill"] | undefined {
  const word = text.trim();
  if (!word) return undefined;
  if (type === "bool") return word === "true" ? true : word === "false" ? false : word;
  if (type === "int" || type === "float") return Number.isFinite(Number(word)) ? Number(word) : word;
  return word;
}

/** Why the file cannot be uploaded like this, as a sentence; "" if it can. */
export function refusalOf(preview: UploadPreview | undefined, name: string): string {
  if (!preview) return "The file is being read.";
  const errors = preview.problems.filter((problem) => problem.severity === "error");
  if (errors.length) return errors.length === 1 ? "Solve the problem shown first." : `Solve the ${errors.length} problems shown first.`;
  return name.trim() ? "" : "Enter a name.";
}
