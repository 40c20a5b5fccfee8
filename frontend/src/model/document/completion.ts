/** Completion in an expression: the fields of the records at hand, the functions, and the words of the language. */
import type { Kind, RecordField } from "../../api/types";

export type ExpressionFunction = Kind & Required<Pick<Kind, "example" | "signatures">>;

export interface Completion {
  /** What is written. */
  text: string;
  /** A field's type, a function's signature. */
  detail: string;
  /** One sentence about it. */
  help: string;
  /** Where the caret stands afterwards, counted from the beginning of the text; a function's is between its brackets. */
  caret: number;
}

export interface Offer {
  /** The part of the expression that a completion replaces. */
  from: number;
  to: number;
  items: Completion[];
}

const WORDS = ["and", "or", "not", "in", "if", "else", "True", "False"];
const OFFERED_MAX = 8;
const IDENTIFIER = /^[A-Za-z_]\w*$/;
/** Words that no bare name can be, because Python's parser reads the text. */
const RESERVED = new Set([
  ...["False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def"],
  ...["del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is"],
  ...["lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"],
]);
/** What ends a line, and therefore cannot stand in an expression as it is. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A field as an expression writes it. */
export const written = (name: string) =>
  IDENTIFIER.test(name) && !RESERVED.has(name) ? name : `record[${JSON.stringify(name).replace(LINE_ENDS, escaped)}]`;

/** What can stand at the caret. wanted: somebody asked for it, so an empty word will do. */
export function completionsAt(text: string, caret: number, fields: RecordField[], functions: ExpressionFunction[], wanted = false): Offer {
  const before = text.slice(0, caret);
  const word = /record\["?[^"\]]*$|[\p{L}\p{N}_]*$/u.exec(before)?.[0] ?? "";
  const from = caret - word.length;
  const rest = word.startsWith('record["') ? /^[^"\]]*"?\]?/ : /^[\p{L}\p{N}_]*(?:"?\])?/u;
  const to = caret + (rest.exec(text.slice(caret))?.[0].length ?? 0);
  const plain = word.replace(/^record\["?/, "").toLowerCase();
  const none = { from, to, items: [] };
  if (isInText(before.slice(0, from)) || /^\d/.test(word) || (!word && !wanted)) return none;
  const all: Completion[] = [
    ...fields.map(({ name, type }) => ({ text: written(name), detail: type, help: "", caret: written(name).length, name })),
    ...functions.map((one) => ({
      text: `${one.kind}()`,
      detail: (one.signatures[0]?.text ?? "").replace(/^\w+/, ""),
      help: one.doc,
      caret: one.kind.length + 1,
      name: one.kind,
    })),
    ...WORDS.map((one) => ({ text: one, detail: "", help: "", caret: one.length, name: one })),
  ].filter(({ name }) => name.toLowerCase().startsWith(plain));
  const seen = new Set<string>();
  const items = all.filter((one) => !seen.has(one.text) && seen.add(one.text)).slice(0, OFFERED_MAX);
  const isDone = items.length === 1 && items[0]?.text === text.slice(from, to);
  return isDone ? none : { from, to, items };
}

/** Whether the end of the text lies inside quotes that are still open. */
function isInText(text: string): boolean {
  let quote = "";
  for (const letter of text) {
    if (quote) quote = letter === quote ? "" : quote;
    else if (letter === "'" || letter === '"') quote = letter;
  }
  return quote !== "";
}

/** The innermost function whose brackets are open at the caret, and which of its arguments that is. */
export function callAt(
  text: string,
  caret: number,
  functions: Kind[],
): { called: Kind; argument: number } | null {
  let depth = 0;
  let argument = 0;
  const before = text.slice(0, caret);
  for (let at = before.length - 1; at >= 0; at -= 1) {
    const letter = before[at];
    if (letter === ")" || letter === "]") depth += 1;
    else if (letter === "," && depth === 0) argument += 1;
    else if (letter === "(" || letter === "[") {
      if (depth > 0) depth -= 1;
      else {
        const name = /(\w+)$/.exec(before.slice(0, at))?.[1];
        const called = letter === "(" && name ? functions.find((one) => one.kind === name) : undefined;
        if (called) return { called, argument };
        argument = 0;
      }
    }
  }
  return null;
}
