/** What a page shows while it waits, when it has nothing, and when something failed. */
import type { ReactNode } from "react";
import { Link } from "react-router";
import { ApiError } from "../api/client";
import type { RunState } from "../api/types";
import { Icon } from "./Icon";
import type { IconName } from "./icons";

export function Loading({ lines = 6 }: { lines?: number }) {
  return (
    <div className="bars" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        <i key={at} style={{ width: `${88 - ((at * 37) % 50)}%` }} />
      ))}
    </div>
  );
}

export function Empty({ icon, title, children, action }: { icon?: IconName; title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      {icon && <Icon name={icon} />}
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

/** Something could not be had. There is always a way on: another try, or another place (`leave`, by default the list). */
export function Failure({ error, retry, leave }: { error: unknown; retry?: () => void; leave?: ReactNode }) {
  const missing = error instanceof ApiError && error.status === 404;
  return (
    <Empty
      icon={missing ? "search" : "warn"}
      title={missing ? "Not found" : "Loading failed"}
      action={
        missing ? (
          (leave ?? (
            <Link className="btn" to=".." relative="path">
              Back to the list
            </Link>
          ))
        ) : (
          retry && (
            <button className="btn" onClick={retry}>
              <Icon name="rerun" />
              Try again
            </button>
          )
        )
      }
    >
      {missing ? "It may have been deleted, or the address is wrong." : error instanceof Error ? error.message : String(error)}
    </Empty>
  );
}

const STATES: Record<RunState, { icon: IconName; word: string; tone: string }> = {
  queued: { icon: "dashc", word: "Queued", tone: "" },
  running: { icon: "play", word: "Running", tone: "acc" },
  paused: { icon: "pause", word: "Paused", tone: "warn" },
  succeeded: { icon: "check", word: "Succeeded", tone: "ok" },
  failed: { icon: "crossc", word: "Failed", tone: "err" },
  cancelled: { icon: "cross", word: "Cancelled", tone: "" },
};

/** Icon, word, then colour. */
export function StateBadge({ state }: { state: RunState }) {
  const { icon, word, tone } = STATES[state];
  return (
    <span className={`badge ${tone}`} data-testid="run-state" data-state={state}>
      <Icon name={icon} small />
      {word}
    </span>
  );
}
