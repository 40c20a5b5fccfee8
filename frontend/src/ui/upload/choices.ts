/** What somebody chooses about how a file is read, as the document that the server completes (docs/data-sets.md). */
import type { Reading, ReadColumn, UploadPreview, UploadProblem } from "../../api/types";

/** Choices for one column; what is not there is detected. */
export type ColumnChoice = { [Field in Exclude<keyof ReadColumn, "written">]?: ReadColumn[Field] | undefined };

/**
 * Choices for a file. columns: by their position in the file. written: the names of the file's columns, as far as they are known. zone: of
 * all times that do not carry their own.
 */
export type Chosen = Partial<Omit<Reading, "columns">> & {
  zone?: string;
  columns: Record<number, ColumnChoice>;
  written: string[];
};

export const NOTHING_CHOSEN: Chosen = { columns: {}, written: [] };

/** A choice of what makes the columns: those known before are gone, with what was chosen for them. */
export const withFrame = (chosen: Chosen, change: Pick<Partial<Reading>, "delimiter" | "header">): Chosen => ({
  ...chosen,
  ...change,
  columns: {},
  written: [],
});

export const withColumn = (chosen: Chosen, at: number, change: ColumnChoice): Chosen => ({
  ...chosen,
  columns: { ...chosen.columns, [at]: { ...chosen.columns[at], ...change } },
});

/** The document of the choices. */
export function documentOf({ zone, columns, written, ...file }: Chosen): object {
  const listed = written.map((name, at) => ({ written: name, ...(zone ? { time_zone: zone } : {}), ...columns[at] }));
  return { ...file, ...(listed.length && (zone || Object.keys(columns).length) ? { columns: listed } : {}) };
}

/** The last reading with the choices made since: what the server refuses stays on show, so that it can be changed. */
export function shownOf(reading: Reading, { zone: _zone, columns, written: _written, ...file }: Chosen): Reading {
  const made = (choice: ColumnChoice = {}) => Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined));
  return { ...reading, ...file, columns: reading.columns.map((column, at) => ({ ...column, ...made(columns[at]) })) };
}

/** Marks of numbers and between cells, by their names. */
export const MARKS: Record<string, string> = { ",": "comma", ".": "point", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space", "'": "apostrophe" };

/** Null values, as a field of text has them. */
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
  if (errors.length) return errors.length === 1 ? "Fix the problem shown." : `Fix the ${errors.length} problems shown.`;
  return name.trim() ? "" : "Enter a name.";
}
