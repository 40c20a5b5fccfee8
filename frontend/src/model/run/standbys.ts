/** Active standbys: what frames tell of operators that have one. */
import type { ExperimentDocument } from "../../api/document";
import type { StandbyNews, StandbySample, Takeover } from "../../api/types";
import type { FrameLog } from "./frames";

/** Whether operators have standbys that take over. */
export const hasStandbys = (document: Pick<ExperimentDocument, "policies">) =>
  (document.policies as { state?: { kind?: unknown } } | undefined)?.state?.kind === "active_standby";

export interface PairAt extends StandbySample {
  operator: string;
  /** The instance whose results are sent, and its host. */
  sends: string;
  on: string;
  /** Where its standby is. null: one of the two is lost. */
  standby: string | null;
}

export interface TakeoverAt {
  host: string;
  lost_s: number;
  says: string;
  tone: "warn" | "good";
}

export interface StandbysAt {
  t_s: number;
  news: StandbyNews;
  pairs: PairAt[];
  /** The newest first. */
  takeovers: TakeoverAt[];
}

/** What a frame tells, null if it tells nothing. */
export function standbysAt(log: FrameLog, n: number): StandbysAt | null {
  const frame = log.frame(n);
  const news = frame?.standbys;
  if (!frame || !news) return null;
  const { t_s } = frame;
  const pairs = log.standbys.pairs.flatMap(({ names, hosts }) => {
    const [operator = "", standby = ""] = names;
    const now = news.pairs[operator];
    if (!now) return [];
    const sends = now.active === 1 ? standby : operator;
    return [{ ...now, operator, sends, on: hosts[now.active] ?? "", standby: now.lost < 0 ? (hosts[1] ?? "") : null }];
  });
  const begun = log.standbys.takeovers.filter(({ lost_s }) => lost_s <= t_s);
  return { t_s, news, pairs, takeovers: begun.map((one) => told(one, t_s)).reverse() };
}

function told({ host, lost_s, at_s, again = 0 }: Takeover, t_s: number): TakeoverAt {
  const over = at_s <= t_s;
  const results = `${again.toLocaleString("en")} ${again === 1 ? "result" : "results"} held back`;
  const says = over
    ? `is lost; standbys took over after ${(at_s - lost_s).toFixed(2)} s and sent ${results}`
    : `is lost; standbys take over at ${at_s.toFixed(2)} s`;
  return { host, lost_s, says, tone: over ? "good" : "warn" };
}

/** How far a standby is from its operator, in words. */
export function distance(behind: number): string {
  if (behind === 0) return "level";
  return `${Math.abs(behind).toLocaleString("en")} ${behind > 0 ? "behind" : "ahead"}`;
}
