import type { RescaleAction } from "../../api/types";
import { plural } from "../../lib/format";
import { backlogTold, downTold, drainTold, movedTold, type Told } from "../../model/run/rescaleTold";
import { actionTitle, changeText, direction, isMove, moment, partsOf, partsText, type ScalingHistory } from "../../model/run/scaling";
import { RescaleParts } from "./BandCard";
import { hold } from "./liveRun";

/** Older ones are in the export. */
const ACTIONS_MAX = 200;

const WAY: Record<"-1" | "0" | "1", string> = { "-1": "▼", "0": "=", "1": "▲" };

const DRAINED = "From the resumption until no more records wait in the topics than at the stop, or than arrive in a second; to the end of a frame";

/** All rescales or moves, newest first. over: no frame will come. latest: the last one ordered at the moment held, if one is. */
export function Rescales({
  history,
  head_s,
  over,
  latest,
}: {
  history: ScalingHistory;
  head_s: number;
  over: boolean;
  latest: RescaleAction | undefined;
}) {
  const { actions } = history;
  const shown = actions.slice(-ACTIONS_MAX).toReversed();
  return (
    <>
      <Keys actions={shown} />
      <table className="table">
        <thead>
          <tr>
            <th className="num">At</th>
            <th title="Below: its phases">Change</th>
            <th className="num" title="From the stop of the first source until the last one reads again">
              Down
            </th>
            <th className="num" title="Increase of records in the topics from the stop to the resumption">
              Backlog
            </th>
            <th className="num" title={DRAINED}>
              Drained
            </th>
            <th className="num" title="State moved to another instance or host">
              Moved
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((action) => (
            <tr key={action.number} className={action.outcome} aria-current={action.number === latest?.number ? "true" : undefined}>
              <td className="num">
                <button className="btn ghost mini-text" title={`Show this moment: ${actionTitle(action)}`} onClick={() => hold(action.ordered_s)}>
                  {moment(action.ordered_s)}
                </button>
              </td>
              <td title={partsText(action, head_s)}>
                {!isMove(action) && (
                  <span title={["fewer instances", "as many instances", "more instances"][direction(action) + 1]}>{WAY[`${direction(action)}`]} </span>
                )}
                {changeText(action).replace(/ → /g, "\u00a0→\u00a0")}
                {action.outcome === "aborted" && <span className="bad"> aborted: {action.why || "no reason given"}</span>}
                <RescaleParts action={action} head_s={head_s} />
                <span className="vh">{partsText(action, head_s)}</span>
              </td>
              <Cell {...downTold(action, over)} />
              <Cell {...backlogTold(action, over)} />
              <Cell {...drainTold(history.drainOf(action, over))} />
              <Cell {...movedTold(action)} />
            </tr>
          ))}
        </tbody>
      </table>
      {actions.length > ACTIONS_MAX && <p className="mut small none">Plus {plural(actions.length - ACTIONS_MAX, actions.some(isMove) ? "earlier move" : "earlier rescale")}.</p>}
    </>
  );
}

/** A number, or a dash and why there is none. */
function Cell({ text, why }: Told) {
  return (
    <td className={`num ${why ? "mut" : ""}`} title={why || undefined}>
      {text}
      {why && <span className="vh">: {why}</span>}
    </td>
  );
}

function Keys({ actions }: { actions: RescaleAction[] }) {
  const parts = actions.flatMap(partsOf).filter(({ from_s, to_s }) => to_s !== from_s);
  const there = new Map(parts.map((part) => [part.id, part]));
  return (
    <div className="keys-of">
      {[...there.values()].map(({ id, label, means }) => (
        <span key={id} title={means}>
          <i className={`swatch part-${id}`} />
          {label}
        </span>
      ))}
    </div>
  );
}

