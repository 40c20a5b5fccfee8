import { useCallback, useState } from "react";
import type { MicroBatch } from "../../api/types";
import { bytes, latency, short } from "../../lib/format";
import { partsOf, rateOf } from "../../model/run/sparkRuns";
import { axisOf, Plot, SERIES, type Colours } from "../../ui/chart/Plot";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import type { Latencies } from "./SparkLatencies";

const VIEWS = ["Duration", "Records", "Watermark", "State", "Latency"] as const;
type Shown = (typeof VIEWS)[number];

/** The micro-batches of one sink as a chart, and all their numbers below. */
export function SparkBatches({
  batches,
  id,
  predicted_ms,
  latencies,
}: {
  batches: MicroBatch[];
  id: string;
  predicted_ms: number | null;
  latencies: Latencies | null;
}) {
  const [shown, setShown] = useState<Shown>("Duration");
  const whyNot = reasonsAgainst(batches, latencies);
  const parts = partsOf(batches);
  const draw = useCallback(
    (colour: Colours) => (shown === "Latency" ? pictureOfLatency(latencies, colour) : pictureOf(shown, batches, predicted_ms, colour)),
    [shown, batches, predicted_ms, latencies],
  );
  return (
    <>
      <div className="ph">
        <div className="seg" role="radiogroup" aria-label="Chart">
          {VIEWS.map((one) => (
            <label key={one} title={whyNot[one]}>
              <input type="radio" name={`chart of ${id}`} checked={shown === one} disabled={one in whyNot} onChange={() => setShown(one)} />
              {one}
            </label>
          ))}
        </div>
        {shown === "Latency" && (
          <div className="lg">
            {["median", "p99"].map((name, at) => (
              <span key={name}>
                <i className="swatch" style={{ background: `var(${(SERIES[at] ?? SERIES[0]).token})` }} />
                {name}
              </span>
            ))}
            {latencies?.predicted && (
              <span>
                <i className="swatch line" />
                predicted
              </span>
            )}
          </div>
        )}
        {shown === "Duration" && (
          <div className="lg">
            {parts.map(({ name, label }, at) => (
              <span key={name}>
                <i className="swatch" style={{ background: `var(${tokenOf(name, at)})` }} />
                {label}
              </span>
            ))}
            {predicted_ms !== null && (
              <span>
                <i className="swatch line" />
                predicted
              </span>
            )}
          </div>
        )}
      </div>
      <div className="chart">
        <Plot label={shown === "Latency" ? "Latency over time" : `${shown} by micro-batch`} draw={draw} revision={`${id} ${shown}`} />
      </div>
      <table className="table" data-testid="micro-batches">
        <TableHead
          columns={[
            ofNumbers("#"),
            ofNumbers("Records"),
            ofNumbers("Took"),
            ofNumbers("Records/s"),
            ofNumbers("Watermark"),
            ofNumbers("Behind"),
            ofNumbers("State rows"),
            ofNumbers("Dropped"),
          ]}
        />
        <tbody>
          {[...batches].reverse().map((one) => (
            <tr key={one.batch} title={one.lost ? "It was done, and Spark died before it told its numbers" : undefined}>
              <td className="num">{one.batch}</td>
              <td className="num">{one.lost ? "–" : one.records_in.toLocaleString("en-US")}</td>
              <td className="num">{one.lost ? "–" : latency(one.took_ms).join(" ")}</td>
              <td className="num">{rateOf(one) === null ? "–" : short(rateOf(one) ?? 0)}</td>
              <td className="num">{one.watermark_s === null ? "–" : `${one.watermark_s.toFixed(3)} s`}</td>
              <td className="num">{one.behind_ms === null ? "–" : latency(one.behind_ms).join(" ")}</td>
              <td className="num" title={one.lost ? undefined : `${bytes(one.state_bytes)} in Spark's state store`}>
                {one.lost ? "–" : one.state_rows.toLocaleString("en-US")}
              </td>
              <td className="num">{one.lost ? "–" : one.dropped.toLocaleString("en-US")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const tokenOf = (name: string, at: number) => (name === "other" ? "--text-3" : (SERIES[at % SERIES.length] ?? SERIES[0]).token);

/** Why a chart cannot be shown. */
function reasonsAgainst(batches: MicroBatch[], latencies: Latencies | null): Partial<Record<Shown, string>> {
  const reasons: Partial<Record<Shown, string>> = {};
  if (batches.every(({ behind_ms }) => behind_ms === null)) reasons.Watermark = "This query has no watermarks";
  if (!latencies) reasons.Latency = "Latencies are measured with input at the pace of the logs";
  else if (!latencies.predicted && !latencies.measured) reasons.Latency = "Latencies are there once all records are compared, and equal";
  return reasons;
}

const UNITS: Record<Exclude<Shown, "Duration" | "Latency">, { title: string; of: (batch: MicroBatch) => number | null }> = {
  Records: { title: "records/s", of: rateOf },
  Watermark: { title: "ms behind the newest event", of: ({ behind_ms }) => behind_ms },
  State: { title: "rows in state", of: ({ state_rows, lost }) => (lost ? null : state_rows) },
};

function pictureOf(shown: Exclude<Shown, "Latency">, batches: MicroBatch[], predicted_ms: number | null, colour: Colours) {
  const x = batches.map(({ batch }) => batch);
  const xaxis = axisOf(colour, "micro-batch", { tickformat: "d" });
  if (shown === "Duration") {
    const bars = partsOf(batches).map(({ name, label, ms }, at) => ({
      type: "bar",
      name: label,
      x,
      y: ms,
      marker: { color: colour(tokenOf(name, at)) },
      hovertemplate: `${label}: <b>%{y} ms</b><extra></extra>`,
    }));
    const line = { color: colour("--text"), width: 1.5, dash: "dash" };
    const shapes = predicted_ms === null ? [] : [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: predicted_ms, y1: predicted_ms, line }];
    return { data: bars, layout: { barmode: "stack", shapes, xaxis, yaxis: axisOf(colour, "ms") } };
  }
  const { title, of } = UNITS[shown];
  const line = { type: "scatter", mode: "lines+markers", x, y: batches.map(of), line: { color: colour("--s1"), width: 2 } };
  return {
    data: [{ ...line, hovertemplate: `micro-batch %{x}: <b>%{y:,.4~s}</b> ${title}<extra></extra>` }],
    layout: { xaxis, yaxis: axisOf(colour, title, { rangemode: "tozero" }) },
  };
}

function pictureOfLatency(latencies: Latencies | null, colour: Colours) {
  const data = (["p50_ms", "p99_ms"] as const).flatMap((quantile, at) =>
    (["measured", "predicted"] as const).map((whose) => {
      const points = latencies?.[whose]?.points ?? [];
      const name = `${quantile === "p50_ms" ? "median" : "p99"}, ${whose}`;
      const line = { color: colour((SERIES[at] ?? SERIES[0]).token), width: 2, dash: whose === "predicted" ? "dash" : "solid" };
      return { type: "scatter", mode: "lines", name, x: points.map(({ t_s }) => t_s), y: points.map((point) => point[quantile]), line, hovertemplate: `${name}: <b>%{y:,.4~s} ms</b><extra></extra>` };
    }),
  );
  return { data, layout: { showlegend: false, xaxis: axisOf(colour, "s of the logs"), yaxis: axisOf(colour, "ms", { rangemode: "tozero" }) } };
}
