/** What of the page stands in its address: the moment, the stretch, the charts, the panel. */
import { useCallback, useEffect, useMemo, useRef } from "react";
import { useSearchParams } from "react-router";
import { duration } from "../../lib/format";
import { queryNow } from "../../lib/useUrlState";
import { chartsNamed, firstCharts, type ChartId, type Has } from "../../model/run/charts";
import { spanIn } from "../../model/run/series";
import { toast } from "../../ui/toasts";
import { useLiveRun } from "./liveRun";

export const PANELS = ["summary", "assertions", "events", "autoscaler", "checkpoints", "time", "queries", "scheduler", "spaces", "balancing", "stores", "output_logs", "standbys", "instances", "records", "spark", "notes"] as const;
export type PanelId = (typeof PANELS)[number];

export interface Address {
  charts: ChartId[];
  latency: string;
  operator: string;
  panel: PanelId | null;
  /** The operator whose instances are shown; empty: all. */
  of: string;
  /** The question about records whose answer is shown. */
  records: string;
  /** The record of it that is shown. */
  record: number;
  /** The execution on Spark that is shown; empty: the newest. */
  spark: string;
}

const rounded = (value: number) => String(Number(value.toFixed(4)));

/** has: which charts the run has, and so which come first; the same object as long as it is the same run. */
export function useAddress(has: Has): [address: Address, change: (changes: Partial<Address>) => void] {
  const [params, setParams] = useSearchParams();
  const address = useMemo((): Address => {
    const panel = PANELS.find((one) => one === params.get("panel")) ?? null;
    return {
      charts: chartsNamed(params.get("charts"), has),
      latency: params.get("latency") ?? "",
      operator: params.get("operator") ?? "",
      panel,
      of: params.get("of") ?? "",
      records: params.get("records") ?? "",
      record: Math.max(0, Math.floor(Number(params.get("record"))) || 0),
      spark: params.get("spark") ?? "",
    };
  }, [params, has]);
  const change = useCallback(
    (changes: Partial<Address>) =>
      setParams(
        () => {
          const after = queryNow();
          for (const [name, value] of Object.entries(changes)) {
            const text = Array.isArray(value) ? value.join(",") : String(value ?? "");
            if (text === "" || text === "0" || text === firstCharts(has).join(",")) after.delete(name);
            else after.set(name, text);
          }
          return after;
        },
        { replace: true },
      ),
    [setParams, has],
  );
  return [address, change];
}

/** A held moment and a stretch are part of the address: `?t=12.5&from=10&to=20`; while playing it waits. end_s: of the run. */
export function useMomentInAddress(ready: boolean, end_s: number): void {
  const [params, setParams] = useSearchParams();
  const pinned_s = useLiveRun((state) => state.pinned_s);
  const zoom = useLiveRun((state) => state.zoom);
  const playing = useLiveRun((state) => state.playing);
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const complete = useLiveRun((state) => state.complete);
  const read = useRef(false);
  useEffect(() => {
    if (!ready || read.current) return;
    read.current = true;
    const t_s = Number(params.get("t"));
    const zoom = spanIn(params, end_s);
    if (!zoom && params.has("from")) toast(`The link's time span is not part of this run of ${duration(end_s)}. The whole run is shown.`, { tone: "warn" });
    useLiveRun.setState({ ...(params.has("t") && Number.isFinite(t_s) ? { pinned_s: t_s } : {}), zoom });
  }, [ready, params, end_s]);
  // A link may name any moment: what is shown is the frame that covers it, as soon as that has come, and so the cursor stands at its end.
  useEffect(() => {
    if (pinned_s === null || !count || (pinned_s > log.head_s && !complete)) return;
    const end_s = log.timeOf(log.numberAt(pinned_s));
    if (end_s !== pinned_s) useLiveRun.setState({ pinned_s: end_s });
  }, [pinned_s, log, count, complete]);
  useEffect(() => {
    if (!read.current || playing) return;
    const wanted = {
      t: pinned_s === null ? null : rounded(pinned_s),
      from: zoom && rounded(zoom.from_s),
      to: zoom && rounded(zoom.to_s),
    };
    const after = queryNow();
    if (Object.entries(wanted).every(([name, value]) => after.get(name) === value)) return;
    for (const [name, value] of Object.entries(wanted)) {
      if (value === null) after.delete(name);
      else after.set(name, value);
    }
    setParams(after, { replace: true });
  }, [pinned_s, zoom, playing, params, setParams]);
}
