import type { RunEvent } from "../../model/run/events";
import { Icon } from "../../ui/Icon";
import { momentOf, useLiveRun } from "./liveRun";

/** What happened, newest first. A click holds that moment. */
export function Events({ events }: { events: RunEvent[] }) {
  const moment_s = useLiveRun(momentOf);
  const near = moment_s === null ? null : events.find((event) => event.t_s !== null && event.t_s <= moment_s + 1e-9);
  return (
    <ul className="ev scroll" data-testid="events">
      {events.map((event, at) => (
        <li key={at}>
          <button
            className={`${event.tone} ${event === near ? "on" : ""}`}
            disabled={event.t_s === null}
            title={event.t_s === null ? `${event.text}, without a virtual time` : event.text}
            onClick={() => useLiveRun.setState({ pinned_s: event.t_s, playing: false })}
          >
            <time>{event.t_s === null ? "" : `${event.t_s.toFixed(2)} s`}</time>
            <Icon name={event.icon} />
            <span className="ell">{event.text}</span>
            <small>{event.detail}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}
