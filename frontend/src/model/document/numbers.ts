/** Numbers as people type them. */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const THOUSANDS = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/;

/** The number that a text says, null where it is empty, or a sentence that says why it is none. */
export function readNumber(text: string): { number: number | null } | { problem: string } {
  const typed = text.trim();
  if (!typed) return { number: null };
  const number = Number(typed);
  if (NUMBER.test(typed)) return Number.isFinite(number) ? { number } : { problem: `${typed} is too large for a number.` };
  const meant = THOUSANDS.test(typed) ? typed.replaceAll(",", "") : typed.replace(",", ".");
  return { problem: `${typed} is not a number${NUMBER.test(meant) ? `; write ${meant}` : ""}.` };
}

/** One step up or down, within the bounds, without the noise of binary fractions. */
export function stepNumber(from: number, by: 1 | -1, least = -Infinity, most = Infinity): number {
  const next = Number((from + by).toPrecision(15));
  return next < least || next > most ? from : next;
}
