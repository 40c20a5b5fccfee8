/** Lists of values as one line of text: numbers, words and whole settings, separated by commas. */
import { parse } from "yaml";
import type { Json } from "../../api/types";

/** What a text says; throws with a sentence where it says nothing clear. */
export function readValues(text: string): Json[] {
  if (!text.trim()) return [];
  let found: unknown;
  try {
    found = parse(`[${text}]`);
  } catch {
    throw new Error("Values are separated by commas: 1, 2.5, on, or {kind: credits, per_channel: 8}.");
  }
  if (!Array.isArray(found)) throw new Error("Values are separated by commas.");
  return found as Json[];
}

/** One of them. */
export function readValue(text: string): Json {
  const [value, ...more] = readValues(text);
  if (value === undefined || more.length) throw new Error("Enter one value: 8, on, or {kind: credits, per_channel: 8}.");
  return value;
}

/** Whole numbers and others only. */
export function readNumbers(text: string): number[] {
  const values = readValues(text);
  const wrong = values.find((value) => typeof value !== "number" || !Number.isFinite(value));
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} is not a number; enter numbers separated by commas.`);
  return values as number[];
}

export const writeValues = (values: readonly Json[]): string => values.map(writeValue).join(", ");

/** A word that would be read as something else is quoted. */
export function writeValue(value: Json): string {
  if (Array.isArray(value)) return `[${writeValues(value)}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([name, inner]) => `${name}: ${writeValue(inner)}`)
      .join(", ")}}`;
  if (typeof value !== "string") return String(value);
  return /^[A-Za-z_][\w./-]*$/.test(value) && typeof parse(value) === "string" ? value : JSON.stringify(value);
}
