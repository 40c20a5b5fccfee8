import { useEffect, useState } from "react";
import { isActive } from "../../api/queries";
import type { Run } from "../../api/types";
import { duration, short } from "../../lib/format";
import { leftText } from "../../model/run/pace";

const TOOK =
  "Wall-clock time from the claim by a worker to the end, including preparation, storage and pauses. The summary has the engine time alone.";

/** Time on the clock since the start, how fast virtual time passes, and what is left. */
export function WallTime({ run, head_s }: { run: Run; head_s: number }) {
  const [now, setNow] = useState(() => Date.now());
  const going = isActive(run);
  useEffect(() => {
    if (!going) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [going]);
  if (!run.started_at) return null;
  const wall_s = Math.max(0, ((run.finished_at ? Date.parse(run.finished_at) : now) - Date.parse(run.started_at)) / 1000);
  const words = going ? leftText(run) : `took${wall_s > 0.2 ? `, ${short(head_s / wall_s)} × real time` : ""}`;
  return (
    <div className="time wall" title={TOOK}>
      <b>
        {duration(wall_s).replace(/ s$/, "")} <i>{wall_s < 60 ? "s" : ""}</i>
      </b>
      {words}
    </div>
  );
}
