/** How long instances have waited for barriers, as frames say it. */
import type { FrameLog } from "./frames";

/** Since when an operator's instances have waited for barriers, at frame n; null if none do. */
export function aligningSince(log: FrameLog, n: number, operator: string): number | null {
  const waiting = log.column("checkpoints", "aligning", "operators", operator, "instances");
  let at = n;
  while (at >= 0 && (waiting[at] as number) > 0) at -= 1;
  return at === n ? null : log.timeOf(at + 1);
}
