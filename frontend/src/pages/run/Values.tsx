import { useMemo } from "react";
import type { Frame } from "../../api/types";
import { latency, short } from "../../lib/format";
import { median } from "../../model/run/series";
import { useLiveRun } from "./liveRun";

const STROKES = [
  { stroke: "var(--p50)", strokeWidth: 1.75, strokeDasharray: "2 2" },
  { stroke: "var(--p95)", strokeWidth: 1.75, strokeDasharray: "7 3" },
  { stroke: "var(--p99)", strokeWidth: 2.25 },
];

const FIELDS = ["p50", "p95", "p99"] as const;

const placeOf = (latency: string) => (latency ? ["latencies_ms", latency] : ["latency_ms"]);

/** Six numbers at the moment shown, each beside what it can be judged by. latency: name of the one shown, empty for the first. */
export function Values({ frame, latency: name }: { frame: Frame | undefined; latency: string }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  // A median hardly moves while the log grows by a fiftieth.
  const settled = Math.floor(Math.log(count + 1) * 50);
  const place = placeOf(name);
  const medians = useMemo(
    () => (settled ? FIELDS : []).map((field) => median(log.column(...placeOf(name), field), log.count)),
    [log, settled, name],
  );
  // Windows bring results in bursts: between two of them the last one's latency still is the latest that is known.
  const measured = frame ? log.lastWith(frame.n, ...place, "p50") : -1;
  const before = frame && frame.n > 0 ? { backlog: log.column("backlog")[frame.n - 1] ?? NaN, t_s: log.timeOf(frame.n - 1) } : undefined;
  const change_per_s =
    frame && before && frame.backlog !== null && !Number.isNaN(before.backlog)
      ? (frame.backlog - before.backlog) / (frame.t_s - before.t_s)
      : null;
  const percentiles = FIELDS.map((field) => (measured < 0 ? undefined : log.column(...place, field)[measured]));
  const earlier = frame && measured >= 0 && measured < frame.n ? `at ${log.timeOf(measured).toFixed(2)} s` : "";
  const kept =
    frame?.in_per_s !== null && frame?.in_per_s !== undefined && frame.offered_per_s ? frame.in_per_s / frame.offered_per_s : null;
  return (
    <section className="kpi" aria-label="Values at the moment shown" data-testid="values">
      {["p50 latency", "p95 latency", "p99 latency"].map((label, at) => {
        const value = percentiles[at];
        const [text, unit] = value === undefined ? ["–", ""] : latency(value);
        const usual = medians[at];
        return (
          <div key={label}>
            <small>
              <svg width="14" height="8" aria-hidden="true">
                <path d="M0 4H14" style={{ ...STROKES[at], fill: "none" }} />
              </svg>
              {label}
            </small>
            <b className={earlier && "earlier"}>
              {text}
              <i>{unit}</i>
            </b>
            <em>{earlier || (usual === null || usual === undefined ? "" : `median ${latency(usual).join(" ")}`)}</em>
          </div>
        );
      })}
      <Value
        label="Throughput in"
        value={frame?.in_per_s}
        unit="rec/s"
        note={kept === null ? "" : `${Math.round(kept * 100)} % of offered`}
      />
      <Value label="Throughput out" value={frame?.out_per_s} unit="rec/s" note="at sinks" />
      <Value
        label="Backlog"
        value={frame?.backlog}
        unit="rec"
        note={change_per_s === null || change_per_s === 0 ? "steady" : `${change_per_s > 0 ? "▲" : "▼"} ${short(Math.abs(change_per_s))}/s`}
      />
    </section>
  );
}

function Value({ label, value, unit, note }: { label: string; value: number | null | undefined; unit: string; note: string }) {
  const known = value !== null && value !== undefined;
  return (
    <div>
      <small>{label}</small>
      <b>
        {known ? short(value) : "–"}
        <i>{known ? unit : ""}</i>
      </b>
      <em title={known ? note : undefined}>{known ? note : ""}</em>
    </div>
  );
}
