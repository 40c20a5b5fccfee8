import type { ReactNode } from "react";
import { bytes, latency, percent, plural, short } from "../../lib/format";
import type { OutageAt } from "../../model/run/outages";
import { hold } from "./liveRun";

/** Losses of hosts until this moment, and how far each recovery is. children: what would happen now. stores: of local stores. */
export function Outages({ outages, stores = false, children }: { outages: OutageAt[]; stores?: boolean; children: ReactNode }) {
  return (
    <section className="outages" data-testid="outages">
      <p className="about">{children}</p>
      {outages.map(({ host, lost_s, does, tone, disk, lost_changes, results_again, again, restores }) => (
        <div key={`${host} ${lost_s}`} className="outage">
          <p>
            <Moment at_s={lost_s} />{" "}
            <b className={tone}>
              {host} {does}
            </b>
            {stores && `, its disk is ${disk}; ${plural(lost_changes, "change was", "changes were")} in no changelog`}
            {again !== null && `; ${stores ? "sources read" : "senders send"} ${plural(again, "record")} again`}
            {results_again > 0 && `; ${plural(results_again, "result comes", "results come")} twice`}
          </p>
          {restores.map(({ store, from, records, bytes: size, took_ms, done }) => (
            <p key={store} className="restore">
              <span>{store}</span>
              {done < 1 && (
                <span className="gauge" role="img" aria-label={`${percent(done)} restored`} title={percent(done)}>
                  <i style={{ width: `${100 * done}%` }} />
                </span>
              )}
              <span>
                {done < 1 && `${short(Math.floor(done * records))} of `}
                {plural(records, "record")}, {bytes(size)}, {latency(took_ms).join(" ")}, from {from}
              </span>
            </p>
          ))}
        </div>
      ))}
    </section>
  );
}

/** A moment of the run; a click shows it. */
export function Moment({ at_s }: { at_s: number }) {
  return (
    <button className="btn ghost mini-text" onClick={() => hold(at_s)} title="Show this moment">
      {at_s.toFixed(2)} s
    </button>
  );
}
