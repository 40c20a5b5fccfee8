import type { ReactNode, RefObject } from "react";
import { plural, short } from "../../lib/format";
import { axisText, bestOf, spotValue, tableOf, type DrawnPanel, type PointAt } from "../../model/figure/figure";
import { SeriesSample, type PlotHandle } from "../../ui/chart/Plot";
import { Icon } from "../../ui/Icon";
import { PanelPlot } from "./PanelPlot";

/** The drawing, or the same numbers as tables. */
export function Panels({
  panels,
  seeds,
  chosen,
  onPoint,
  table,
  onTable,
  underWay,
  plots,
  setup,
  onSetup,
}: {
  panels: DrawnPanel[];
  seeds: number[];
  /** The point that somebody chose. */
  chosen: PointAt | null;
  onPoint: (point: PointAt) => void;
  table: boolean;
  /** null: the figure is a table, and nothing else. */
  onTable: ((table: boolean) => void) | null;
  /** It is being measured at this scale. */
  underWay: boolean;
  plots: RefObject<(PlotHandle | null)[]>;
  /** What was measured on, null if it is not shown. */
  setup: ReactNode;
  /** null: the figure has no studies. */
  onSetup: ((shown: boolean) => void) | null;
}) {
  const none = underWay ? "Being measured: results appear here when all runs have ended." : "Not measured at this scale yet: run the figure.";
  const reported = panels.some(({ curves }) => curves.some(({ reported }) => reported));
  const ranked = panels.some(({ curves }) => curves.some(({ column }) => column.better));
  return (
    <section className="panel drawing" aria-label="Drawing" data-testid="drawing">
      <div className="ph">
        <h2>{reported ? "Reported and measured" : "Measured"}</h2>
        <span className="mut">
          {[
            seeds.length > 1 ? `means of ${plural(seeds.length, "seed")}, with 95 % intervals` : seeds.length ? "one seed" : "",
            reported ? "" : "the reported result is described above",
            ranked ? "bold: best in its column" : "",
          ]
            .filter(Boolean)
            .join("; ")}
        </span>
        <span className="grow" />
        {onSetup && (
          <button
            className="btn ghost icon"
            title={setup ? "Hide the set-up" : "Show the set-up: query and hosts"}
            aria-label="Set-up"
            aria-pressed={Boolean(setup)}
            data-testid="show-set-up"
            onClick={() => onSetup(!setup)}
          >
            <Icon name="host" />
          </button>
        )}
        {onTable && (
          <button
            className="btn ghost icon"
            title={table ? "Show the charts" : "Show as tables"}
            aria-label={table ? "Show the charts" : "Show as tables"}
            aria-pressed={table}
            onClick={() => onTable(!table)}
          >
            <Icon name={table ? "compare" : "table"} />
          </button>
        )}
      </div>
      <div className={table ? "cards tables scroll" : "cards scroll"} tabIndex={0} role="region" aria-label="Panels">
        {setup}
        {panels.map((panel, at) => (
          <section key={at} className="card-of" aria-label={panel.title}>
            <div className="ch">
              <h3>{panel.title}</h3>
              <span className="mut">
                {[axisText(panel.y), panel.y.log && "log scale"].filter(Boolean).join(", ")}
              </span>
              {!table && (
                <span className="lg">
                  {panel.names.map((name, index) => (
                    <span key={name}>
                      <SeriesSample at={index} markersOnly={panel.curves.every(({ mark }) => mark === "bars" || mark === "points")} />
                      {name}
                    </span>
                  ))}
                </span>
              )}
            </div>
            {table ? (
              <PanelTable panel={panel} at={at} chosen={chosen} none={none} onPoint={onPoint} />
            ) : panel.curves.length ? (
              <PanelPlot
                panel={panel}
                chosen={chosen?.panel === at ? chosen : null}
                onPoint={(curve, spot) => onPoint({ panel: at, curve, spot })}
                handle={(handle) => {
                  plots.current[at] = handle;
                }}
              />
            ) : (
              <p className="nothing">
                <Icon name="dashc" />
                {none}
              </p>
            )}
            {panel.curves.length > 0 && panel.missing.length > 0 && (
              <p className="missing">
                Not drawn: {panel.missing.map(({ name, reason }) => `${name} (${reason})`).join("; ")}.
              </p>
            )}
          </section>
        ))}
      </div>
    </section>
  );
}

const ROWS_MAX = 500;

function PanelTable({
  panel,
  at,
  chosen,
  none,
  onPoint,
}: {
  panel: DrawnPanel;
  at: number;
  chosen: PointAt | null;
  /** Why there is nothing. */
  none: string;
  onPoint: (point: PointAt) => void;
}) {
  const { head, rows } = tableOf(panel);
  const { curves } = panel;
  // Where nothing is reported, all is measured.
  const paired = curves.some(({ reported }) => reported);
  const best = curves.map(bestOf);
  if (!curves.length) return <p className="nothing">{none}</p>;
  return (
    <>
      <table className="table numbers">
        <thead>
          <tr>
            <th>{head}</th>
            {curves.map(({ name, unit, reported, column: { better, about } }, curve) => (
              <th key={curve} className="num" title={[about, better && `${better} is better`].filter(Boolean).join("; ") || undefined}>
                {name}
                {reported ? <i>, reported</i> : paired && ", measured"}
                {(unit || panel.y.unit) && `, ${unit || panel.y.unit}`}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS_MAX).map(({ x, spots }) => (
            <tr key={x}>
              <td>{typeof x === "number" ? short(x) : x}</td>
              {curves.map(({ reported, name, column: { better }, spots: all }, curve) => {
                const spot = spots[curve];
                const one = typeof spot === "number" ? all[spot] : undefined;
                if (!one || typeof spot !== "number")
                  return (
                    <td key={curve} className="num mut">
                      –
                    </td>
                  );
                const here = chosen?.panel === at && chosen.curve === curve && chosen.spot === spot;
                const range = one.low !== null && one.high !== null && one.high > one.low ? ` (${short(one.low)} to ${short(one.high)})` : "";
                const isBest = best[curve]?.includes(spot);
                const praise = isBest ? `; the ${better === "lower" ? "lowest" : "highest"}, the best here` : "";
                return (
                  <td key={curve} className={`num ${here ? "on" : ""} ${isBest ? "best" : ""}`}>
                    {reported ? (
                      spotValue(one)
                    ) : (
                      <button aria-pressed={here} title={`Show the runs behind ${name} at ${x}${praise}`} onClick={() => onPoint({ panel: at, curve, spot })}>
                        {spotValue(one)}
                      </button>
                    )}
                    {isBest && <span className="vh">, the best</span>}
                    <span className="mut">{range}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > ROWS_MAX && (
        <p className="missing">
          The first {ROWS_MAX} of {rows.length} rows for {axisText(panel.x) || "x"}; the CSV has all.
        </p>
      )}
    </>
  );
}
