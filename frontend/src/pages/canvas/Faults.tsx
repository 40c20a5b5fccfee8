import { useRef, useState } from "react";
import type { Kind, Problem, Tagged } from "../../api/types";
import { latency, short } from "../../lib/format";
import { horizonOf, warmupOf } from "../../model/document/document";
import {
  canStretch,
  faultsOf,
  gridOf,
  isRandom,
  moveSpan,
  replaceFault,
  spanOf,
  whomOf,
  withSpan,
  type Part,
  type Span,
} from "../../model/document/faults";
import { problemsAt, worstTone } from "../../model/document/validate";
import { WriteButton } from "../../session/may";
import { useRefusal } from "../../session/who";
import { Icon, iconOf } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { addFaultOf } from "./commands";
import { edit, select, useEditor } from "./editor";
import { useRegistry } from "./useRegistry";

export function AddFault() {
  const { registry } = useRegistry();
  return (
    <span className="add-fault">
      <Menu
        title="Add a fault"
        className="btn"
        refusal={useRefusal()}
        label={
          <>
            <Icon name="plus" small />
            Add fault
          </>
        }
      >
        {(close) =>
          (registry.faults ?? []).map((kind) => (
            <button
              key={kind.kind}
              onClick={() => {
                close();
                addFaultOf(kind);
              }}
            >
              <Icon name={iconOf(kind.icon, "bolt")} />
              <span>
                {kind.title}
                <small>{firstSentence(kind.doc)}</small>
              </span>
            </button>
          ))
        }
      </Menu>
    </span>
  );
}

const firstSentence = (text: string) => text.replace(/\s+/g, " ").replace(/[.:;] .*$/, ".");

/** What goes wrong during the run, on a line of time: one row for each fault, in the document's order. */
export function Faults() {
  const document = useEditor((state) => state.document);
  const problems = useEditor((state) => state.problems);
  const chosen = useEditor((state) => state.selection.fault);
  const { registry } = useRegistry();
  const kinds = registry.faults ?? [];
  const faults = faultsOf(document);
  const horizon_s = horizonOf(document);
  const warmup_s = warmupOf(document);
  if (!faults.length) return <NoFaults kinds={kinds} />;
  return (
    <div className="faults scroll" data-testid="faults">
      <ul>
        {faults.map((fault, index) => (
          <FaultRow
            key={index}
            fault={fault}
            index={index}
            kind={kinds.find((one) => one.kind === fault.kind)}
            horizon_s={horizon_s}
            warmup_s={warmup_s}
            problems={problemsAt(problems, `/faults/${index}`)}
            selected={chosen === index}
          />
        ))}
      </ul>
      <div className="axis" aria-hidden="true">
        <div>
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <span key={share} style={{ left: `${share * 100}%` }}>
              {short(share * horizon_s)}
              {share === 1 ? " s" : ""}
            </span>
          ))}
        </div>
      </div>
    </div>
  );
}

function NoFaults({ kinds }: { kinds: Kind[] }) {
  return (
    <div className="no-faults" data-testid="no-faults">
      <p>
        <b>No faults in this run.</b> Faults strike at known times, or at random times drawn from the seed. They show what a query does
        when hosts stall or slow down, or links fail, and how long it takes to recover. Add one; it is drawn here over virtual time.
      </p>
      <div>
        {kinds.map((kind) => (
          <WriteButton key={kind.kind} className="btn" title={kind.doc} onClick={() => addFaultOf(kind)}>
            <Icon name={iconOf(kind.icon, "bolt")} />
            {kind.title}
          </WriteButton>
        ))}
      </div>
    </div>
  );
}

const seconds = (value: number) => `${Number(value.toFixed(3))} s`;

function wordsOf(fault: Tagged, span: Span | null): string {
  if (span?.end_s === null) return `${seconds(span.start_s)} to the end`;
  if (span) return span.end_s === span.start_s ? `at ${seconds(span.start_s)}` : `${seconds(span.start_s)} to ${seconds(span.end_s)}`;
  if (!isRandom(fault)) return "no time yet";
  const { mean_s } = fault.when as { mean_s?: number };
  const length = typeof fault.for_ms === "number" ? `, ${latency(fault.for_ms).join(" ")} each` : "";
  return typeof mean_s === "number" ? `at random, ${seconds(mean_s)} apart on average${length}` : "at random";
}

/** Words stand in a long bar, right of a short one, or left of it where there is more room. left, right: of the bar, in percent. */
const besideBar = (hasBar: boolean, left: number, right: number) =>
  !hasBar
    ? { left: 10 }
    : right - left > 33
      ? { left: `calc(${left}% + 10px)` }
      : right > 66 ? { right: `calc(${100 - left}% + 10px)` } : { left: `calc(${right}% + 10px)` };

/** Shift makes the arrow keys' steps so much larger. */
const LARGE_STEP = 10;

function FaultRow({
  fault,
  index,
  kind,
  horizon_s,
  warmup_s,
  problems,
  selected,
}: {
  fault: Tagged;
  index: number;
  kind: Kind | undefined;
  horizon_s: number;
  warmup_s: number;
  problems: Problem[];
  selected: boolean;
}) {
  const track = useRef<HTMLDivElement>(null);
  const drag = useRef<{ part: Part; x: number; span: Span } | null>(null);
  /** Where the bar is while it is dragged; the document gets it when the pointer is let go. */
  const [moving, setMoving] = useState<Span | null>(null);
  const own = spanOf(kind, fault);
  const span = moving ?? own;
  const tone = worstTone(problems);
  const name = `${kind?.title ?? fault.kind}${whomOf(fault) ? `, ${whomOf(fault)}` : ""}`;
  const put = (next: Span, group = "") => edit((before) => replaceFault(before, index, withSpan(kind, fault, next)), group);

  const handlers = (part: Part) => ({
    tabIndex: 0,
    role: "slider",
    "aria-valuemin": 0,
    "aria-valuemax": horizon_s,
    "aria-valuetext": wordsOf(fault, span),
    onPointerDown: (event: React.PointerEvent) => {
      select({ fault: index });
      if (!own || event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      drag.current = { part, x: event.clientX, span: own };
    },
    onPointerMove: (event: React.PointerEvent) => {
      const { current } = drag;
      const width = track.current?.clientWidth;
      if (!current || !width) return;
      setMoving(moveSpan(current.span, current.part, ((event.clientX - current.x) / width) * horizon_s, horizon_s));
    },
    onPointerUp: () => {
      if (drag.current && moving && own && (moving.start_s !== own.start_s || moving.end_s !== own.end_s)) put(moving);
      drag.current = null;
      setMoving(null);
    },
    onPointerCancel: () => {
      drag.current = null;
      setMoving(null);
    },
    onKeyDown: (event: React.KeyboardEvent) => {
      if (event.key === "Escape" && drag.current) {
        drag.current = null;
        setMoving(null);
        event.stopPropagation();
      }
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        select({ fault: index });
      }
      const sign = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (!sign || !own || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const by_s = sign * gridOf(horizon_s) * (event.shiftKey ? LARGE_STEP : 1);
      put(moveSpan(own, part, by_s, horizon_s), `fault ${index} ${part}`);
      select({ fault: index });
    },
  });

  const at = (value_s: number) => Math.max(0, Math.min(value_s / horizon_s, 1)) * 100;
  const left = span ? at(span.start_s) : 0;
  const right = span ? at(span.end_s ?? horizon_s) : 100;
  const open = span ? span.end_s === null : false;
  return (
    <li onClick={() => select({ fault: index })} className={`${selected ? "selected" : ""} ${tone}`} data-testid={`fault-${index}`}>
      <button className="what" onClick={() => select({ fault: index })} title={problems[0]?.message ?? name} aria-pressed={selected}>
        <Icon name={tone === "err" ? "crossc" : tone === "warn" ? "warn" : iconOf(kind?.icon, "bolt")} />
        <span className="ell">
          <b>{kind?.title ?? fault.kind}</b> {whomOf(fault)}
        </span>
      </button>
      <div className="lane">
        <div className="track" ref={track}>
          {warmup_s > 0 && <i className="warmup" style={{ width: `${at(warmup_s)}%` }} />}
          {span ? (
            <div className={`span ${open ? "open" : ""}`} style={{ left: `${left}%`, width: `${right - left}%` }}>
              <div
                className="body"
                {...handlers("whole")}
                aria-label={`${name}: time`}
                aria-valuenow={span.start_s}
                data-testid={`fault-${index}-bar`}
              />
              {canStretch(kind, fault) && (
                <>
                  <div className="end first" {...handlers("start")} aria-label={`${name}: start`} aria-valuenow={span.start_s} />
                  <div
                    className="end last"
                    {...handlers("end")}
                    aria-label={`${name}: end`}
                    aria-valuenow={span.end_s ?? horizon_s}
                    data-testid={`fault-${index}-end`}
                  />
                </>
              )}
            </div>
          ) : (
            <div className={`anytime ${isRandom(fault) ? "" : "unset"}`} />
          )}
          <span className="when" style={besideBar(span !== null, left, right)}>
            {wordsOf(fault, span)}
          </span>
        </div>
      </div>
    </li>
  );
}
