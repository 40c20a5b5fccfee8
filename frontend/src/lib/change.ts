/** Changes relative to a baseline, and in words. */
import { short } from "./format";

/** 0.1 is a tenth more; null where one of them is missing, or the baseline is 0. */
export function relativeChange(from: number | null, to: number | null): number | null {
  if (from === null || to === null) return null;
  return from === to ? 0 : from === 0 ? null : (to - from) / Math.abs(from);
}

/** A change of less than a twentieth of a per cent is told as none, one by several times as a factor. */
const SAME = 0.0005;
const FACTOR_FROM = 3;
export function changeText(change: number): string {
  return Math.abs(change) < SAME ? "same" : (factorText(change) ?? signedPercent(change));
}

export function factorText(change: number): string | null {
  const ratio = 1 + change;
  if (ratio >= FACTOR_FROM) return `× ${short(ratio)}`;
  return ratio > 0 && ratio <= 1 / FACTOR_FROM ? `÷ ${short(1 / ratio)}` : null;
}

export const signedPercent = (change: number) => `${change > 0 ? "+" : change < 0 ? "−" : ""}${short(Math.abs(change) * 100)} %`;
