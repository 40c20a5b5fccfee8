import { isActive } from "../../api/queries";
import type { Study } from "../../api/types";
import { duration, percent } from "../../lib/format";
import { Track } from "../../ui/Track";

/** How far a study is, and about how long it takes yet. */
export function Progress({ study }: { study: Study }) {
  if (!isActive(study)) return <span className="mut small">{study.trials_failed ? "ended, with failures" : "ended"}</span>;
  const share = percent(study.progress);
  return (
    <span className="progress">
      <Track share={study.progress} label={`Progress of ${study.name}`} />
      {study.state === "queued" ? "waiting for a worker" : study.eta_s === null ? share : `${share}, about ${duration(study.eta_s)} left`}
    </span>
  );
}
