import type { RescaleAction } from "../../api/types";
import { bytes, short } from "../../lib/format";
import { actionTitle, changeText, downOf, moment, partsOf, spell } from "../../model/run/scaling";

/** The parts of the time of a rescale or move, one behind the other. */
export function RescaleParts({ action, head_s }: { action: RescaleAction; head_s: number }) {
  const parts = partsOf(action);
  return (
    <div className="sums" aria-hidden="true">
      {parts.map(({ id, from_s, to_s }) => (
        <i key={id} className={`part-${id}`} style={{ flexGrow: Math.max(0, (to_s ?? Math.max(head_s, from_s)) - from_s) }} />
      ))}
    </div>
  );
}

/** What a rescale or move consisted of, beside its band in the charts. */
export function BandCard({ action, head_s }: { action: RescaleAction; head_s: number }) {
  const down_s = downOf(action);
  return (
    <div className="band-card" role="tooltip" data-testid="band-card">
      <b>{actionTitle(action)}</b>
      <p>{changeText(action)}</p>
      <RescaleParts action={action} head_s={head_s} />
      <dl>
        <div>
          <dt>ordered at</dt>
          <dd>{moment(action.ordered_s)}</dd>
        </div>
        {partsOf(action).map(({ id, label, from_s, to_s }) => (
          <div key={id}>
            <dt>
              <i className={`swatch part-${id}`} />
              {label}
            </dt>
            <dd>{to_s === null ? `since ${spell(Math.max(0, head_s - from_s))}` : spell(to_s - from_s)}</dd>
          </div>
        ))}
        {down_s !== null && (
          <div className="all">
            <dt>down</dt>
            <dd>{spell(down_s)}</dd>
          </div>
        )}
        {action.stored_s !== null && action.moved_bytes !== null && (
          <div>
            <dt>moved</dt>
            <dd>
              {bytes(action.moved_bytes)} of {bytes(action.state_bytes ?? action.moved_bytes)}
            </dd>
          </div>
        )}
        {action.lag_after !== null && action.lag_before !== null && (
          <div>
            <dt>waiting</dt>
            <dd>
              {short(action.lag_before)} → {short(action.lag_after)}
            </dd>
          </div>
        )}
      </dl>
      {action.outcome === "aborted" && <p className="bad">Aborted: {action.why || "no reason given"}</p>}
    </div>
  );
}
