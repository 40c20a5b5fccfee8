import { useMemo } from "react";
import type { Frame } from "../api/types";
import { columnsOf, median } from "../model/series";
import { latency, short } from "../ui/format";

const STROKES = [
  { stroke: "var(--p50)", strokeWidth: 1.75, strokeDasharray: "2 2" },
  { stroke: "var(--p95)", strokeWidth: 1.75, strokeDasharray: "7 3" },
  { stroke: "var(--p99)", strokeWidth: 2.25 },
];

/** Six numbers at the moment shown, each beside what it can be judged by. */
export function Values({ frames, frame }: { frames: Frame[]; frame: Frame | undefined }) {
  const medians = useMemo(() => columnsOf(frames).latency.map(median), [frames]);
  const before = frame && frames[frame.n - 1];
  const change_per_s =
    frame && before && frame.backlog !== null && before.backlog !== null
      ? (frame.backlog - before.backlog) / (frame.t_s - before.t_s)
      : null;
  const percentiles = [frame?.latency_ms?.p50, frame?.latency_ms?.p95, frame?.latency_ms?.p99];
  const kept =
    frame?.in_per_s !== null && frame?.in_per_s !== undefined && frame.offered_per_s ? frame.in_per_s / frame.offered_per_s : null;
  return (
    <section className="kpi" aria-label="Values at the moment shown" data-testid="values">
      {["p50 latency", "p95 latency", "p99 latency"].map((label, at) => {
        const value = percentiles[at];
        const [text, unit] = value === null || value === undefined ? ["–", ""] : latency(value);
        const usual = medians[at];
        return (
          <div key={label}>
            <small>
              <svg width="14" height="8" aria-hidden="true">
                <path d="M0 4H14" style={{ ...STROKES[at], fill: "none" }} />
              </svg>
              {label}
            </small>
            <b>
              {text}
              <i>{unit}</i>
            </b>
            <em>{usual === null || usual === undefined ? "" : `median ${latency(usual).join(" ")}`}</em>
          </div>
        );
      })}
      <Number
        label="Throughput in"
        value={frame?.in_per_s}
        unit="rec/s"
        note={kept === null ? "" : `${Math.round(kept * 100)} % of offered`}
      />
      <Number label="Throughput out" value={frame?.out_per_s} unit="rec/s" note="at sinks" />
      <Number
        label="Backlog"
        value={frame?.backlog}
        unit="rec"
        note={change_per_s === null || change_per_s === 0 ? "steady" : `${change_per_s > 0 ? "▲" : "▼"} ${short(Math.abs(change_per_s))}/s`}
      />
    </section>
  );
}

function Number({ label, value, unit, note }: { label: string; value: number | null | undefined; unit: string; note: string }) {
  const known = value !== null && value !== undefined;
  return (
    <div>
      <small>{label}</small>
      <b>
        {known ? short(value) : "–"}
        <i>{known ? unit : ""}</i>
      </b>
      <em>{known ? note : ""}</em>
    </div>
  );
}
