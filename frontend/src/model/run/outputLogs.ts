/** Output logs of a run's operators: what frames tell of them. */
import type { ExperimentDocument } from "../../api/document";
import type { OutputLogNews, OutputLogSample } from "../../api/types";
import type { FrameLog } from "./frames";

const KINDS = ["continuous_eventual", "upstream_backup"];

/** Whether operators recover from their output logs and what senders keep. */
export const hasOutputLogs = (document: Pick<ExperimentDocument, "policies">) => {
  const state = (document.policies as { state?: { kind?: unknown } } | undefined)?.state;
  return typeof state?.kind === "string" && KINDS.includes(state.kind);
};

export interface OutputLogsAt {
  t_s: number;
  news: OutputLogNews;
  /** null: any number. */
  limits: { records: number | null; replay: number | null };
  logs: [name: string, log: OutputLogSample][];
  /** The longest log, for scales. */
  most: number;
}

/** What a frame tells, null if it tells nothing. */
export function outputLogsAt(log: FrameLog, n: number): OutputLogsAt | null {
  const frame = log.frame(n);
  const news = frame?.output_logs;
  if (!frame || !news) return null;
  const logs = Object.entries(news.logs);
  const { records, replay } = news.limits ?? {};
  return {
    t_s: frame.t_s,
    news,
    limits: { records: known(records), replay: known(replay) },
    logs,
    most: Math.max(1, ...logs.map(([, { kept }]) => kept)),
  };
}

/** Fields without a value come as NaN, or not at all. */
const known = (value: number | null | undefined) => (value === undefined || value === null || Number.isNaN(value) ? null : value);

/** How far back a log's oldest open window began, null if none is open. */
export const oldestAge_s = ({ oldest_s }: OutputLogSample, t_s: number) => {
  const start_s = known(oldest_s);
  return start_s === null ? null : t_s - start_s;
};
