import { useState } from "react";
import { reasonOf, ROLE_TEXT, routeOf, type RecordRoute as Route } from "../../model/run/recordRoutes";
import type { SpacePicture } from "../../model/run/spaces";

const HALF_TURN_DEGREES = 180;

/** The route of a record of a direction that somebody points at or types; null: none is asked for. */
export function useRecordRoute(picture: SpacePicture | null, threshold: number) {
  const [turn, setTurn] = useState<number | null>(null);
  return { turn, setTurn, route: picture && turn !== null ? routeOf(picture, turn, threshold) : null };
}

/** Asks for a direction, and says which rule sends a record of it where. */
export function RecordRoute({
  turn,
  setTurn,
  route,
  threshold,
}: {
  turn: number | null;
  setTurn: (turn: number | null) => void;
  route: Route | null;
  threshold: number;
}) {
  const nearest = route?.spaces[0]?.distance ?? 0;
  return (
    <div className="route" data-testid="record-route">
      <p>
        <label>
          A record in direction{" "}
          <input
            className="in num"
            type="number"
            min={-HALF_TURN_DEGREES}
            max={HALF_TURN_DEGREES}
            step={1}
            value={turn === null ? "" : Number((turn * HALF_TURN_DEGREES).toFixed(2))}
            placeholder="click the circle"
            onChange={({ target }) => {
              const degrees = target.valueAsNumber;
              setTurn(Number.isNaN(degrees) ? null : Math.max(-1, Math.min(1, degrees / HALF_TURN_DEGREES)));
            }}
          />{" "}
          °
        </label>
        {turn !== null && (
          <button className="link" onClick={() => setTurn(null)}>
            Clear
          </button>
        )}
      </p>
      {route && (
        <ul>
          {route.spaces.map((space) => (
            <li key={space.space}>
              <b>
                {space.home ? "Space" : "Copy to space"} {space.space}
              </b>
              , {reasonOf(space, threshold, nearest)}
              <ul>
                {space.stops.map(({ workset, role }) => (
                  <li key={workset?.number ?? "new"}>
                    {workset ? `Workset ${workset.space}.${workset.number} on worker ${workset.worker}` : "New workset"}, {ROLE_TEXT[role](threshold)}
                  </li>
                ))}
                {!space.stops.length && <li>No workset within {2 * threshold} yet; kept for those that open in this window</li>}
              </ul>
            </li>
          ))}
          {route.spared.length > 0 && (
            <li>No copy to space {route.spared.join(", ")}: that space sends its copies here, so a pair is found once.</li>
          )}
        </ul>
      )}
    </div>
  );
}
