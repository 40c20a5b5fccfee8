import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isActive, registryQuery } from "../api/queries";
import type { Frame, RescaleAction, ScalingDecision, ScalingReading } from "../api/types";
import type { ExperimentDocument } from "../model/document";
import {
  changeText,
  direction,
  downOf,
  isAsked,
  iterationAt,
  knownAt,
  moment,
  partsOf,
  partsText,
  ruleTold,
  spell,
  valueTold,
  whyNot,
  NO_SOURCE,
  RUN_ENDED,
  type ChosenIteration,
  type Drain,
  type ScalingHistory,
} from "../model/scaling";
import { bytes, percent, plural, short } from "../ui/format";
import { Icon } from "../ui/Icon";
import type { IconName } from "../ui/icons";
import { RescaleParts } from "./BandCard";
import { momentOf, useLiveRun } from "./liveRun";
import { RescaleButton } from "./Rescale";

/** Older ones are in the export. */
const ACTIONS_MAX = 200;

/** Returns the moment that is held: the end of the frame. */
const hold = (t_s: number): number => {
  const { log } = useLiveRun.getState();
  const pinned_s = log.timeOf(Math.max(0, log.numberAt(t_s)));
  useLiveRun.setState({ pinned_s, playing: false });
  return pinned_s;
};

/** The iteration at the moment shown as monitor, analyse, plan and execute; what is going on, or why nothing is; and all rescales. */
export function Autoscaler({ document, onRescale }: { document: ExperimentDocument; onRescale: (frame: Frame) => void }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const over = useLiveRun(({ run }) => run !== null && !isActive(run));
  const history = log.scaling;
  // An iteration within the frame that is shown belongs to it: the moment is the frame's end.
  const shown_s = count ? (moment_s === null ? log.head_s : log.timeOf(Math.min(log.numberAt(moment_s), count - 1))) : 0;
  const [chosen, setChosen] = useState<ChosenIteration | null>(null);
  const number = iterationAt(history, shown_s, chosen);
  const decision = history.decisions[number];
  const { data: registry = {} } = useQuery(registryQuery);
  const asked = isAsked(document, registry);
  const why = count ? whyNot(history, document, asked, shown_s, number, over) : { text: "No frame has come yet.", tone: "plain" as const };
  return (
    <div className="autoscaler scroll" tabIndex={0} role="region" aria-label="Autoscaler" data-testid="autoscaler">
      <p className={`why-not ${why.tone}`} data-testid="why-not">
        <Icon name={TONE_ICON[why.tone]} small />
        <span>{why.text}</span>
      </p>
      {asked && decision && <Iteration decisions={history.decisions} number={number} onChosen={setChosen} />}
      {asked && decision && (
        <Columns
          document={document}
          decision={decision}
          action={knownAt(history.actionOf(decision), shown_s)}
          over={over && shown_s >= log.head_s}
        />
      )}
      {asked && !decision && (
        <p className="mut small none" data-testid="no-iteration">
          What the policy reads, computes, wishes for and does stands here from its first iteration on.
        </p>
      )}
      <section data-testid="rescales">
        <div className="ph">
          <h2>Rescales</h2>
          <span className="mut">{history.actions.length}</span>
          <span className="grow" />
          <RescaleButton document={document} onRescale={onRescale} />
        </div>
        {history.actions.length ? (
          <Rescales history={history} head_s={log.head_s} over={over} latest={moment_s === null ? undefined : history.actionAt(shown_s)} />
        ) : (
          <p className="mut small none">No rescale was ordered so far.</p>
        )}
      </section>
    </div>
  );
}

const TONE_ICON: Record<"plain" | "good" | "warn" | "bad", IconName> = { plain: "info", good: "check", warn: "clock", bad: "crossc" };

function Iteration({
  decisions,
  number,
  onChosen,
}: {
  decisions: ScalingDecision[];
  number: number;
  onChosen: (chosen: ChosenIteration) => void;
}) {
  const at_s = decisions[number]?.t_s ?? 0;
  const show = (number: number, t_s: number) => onChosen({ number, moment_s: hold(t_s) });
  const step = (by: number, label: string, last: string) => {
    const other = decisions[number + by];
    return (
      <button
        className="btn ghost icon mini"
        aria-label={label}
        title={other ? `${label}, at ${moment(other.t_s)}` : last}
        disabled={!other}
        onClick={() => other && show(number + by, other.t_s)}
      >
        <Icon name="right" small className={by < 0 ? "flip" : ""} />
      </button>
    );
  };
  return (
    <div className="ph">
      <h2 data-testid="iteration">
        Iteration {number + 1} <span className="mut">of {decisions.length}</span>
      </h2>
      <button className="btn ghost mini-text" title="Show this moment" onClick={() => show(number, at_s)}>
        {moment(at_s)}
      </button>
      <span className="grow" />
      {step(-1, "Previous iteration", "This is the first iteration")}
      {step(1, "Next iteration", "This is the last iteration so far")}
    </div>
  );
}

const COLUMNS: [title: string, means: string][] = [
  ["Monitor", "What was read of each vertex: means over its instances and the window, rates of all together"],
  ["Analyse", "What the policy computed of that"],
  ["Plan", "What it wished for, and what each rule made of the wish"],
  ["Execute", "What was ordered, and what came of it"],
];

/** A row for each vertex; those that share a name with an operator stand for all that forward edges connect to it. */
function Columns({
  document,
  decision,
  action,
  over,
}: {
  document: ExperimentDocument;
  decision: ScalingDecision;
  action: RescaleAction | undefined;
  /** The run has ended at the moment shown. */
  over: boolean;
}) {
  const { read, advice, values } = decision;
  const order = document.query.operators.map(({ id }) => id);
  const named = new Set([...read.map(({ operator }) => operator), ...Object.keys(advice), ...values.map(([, vertex]) => vertex)]);
  const vertices = [...named].sort((a, b) => order.indexOf(a) - order.indexOf(b));
  const readOf = (vertex: string) => read.find(({ operator }) => operator === vertex);
  return (
    <table className="mape" data-testid="mape">
      <thead>
        <tr>
          {COLUMNS.map(([title, means]) => (
            <th key={title} scope="col" title={means}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {vertices.map((vertex) => (
          <tr key={vertex} data-testid={`vertex-${vertex}`}>
            <td>
              <Monitor vertex={vertex} reading={readOf(vertex)} />
            </td>
            <td>
              <Analyse decision={decision} vertex={vertex} />
            </td>
            <td>
              <Plan decision={decision} vertex={vertex} />
            </td>
            <td>
              <Execute decision={decision} vertex={vertex} action={action} now={readOf(vertex)?.p} over={over} />
            </td>
          </tr>
        ))}
        {!vertices.length && (
          <tr>
            <td colSpan={COLUMNS.length} className="mut">
              Nothing was read in this iteration.
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Pairs({ rows }: { rows: { label: string; text: string; means: string }[] }) {
  return (
    <dl>
      {rows.map(({ label, text, means }) => (
        <div key={label} title={means}>
          <dt className="ell">{label}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

const RATES = { in_per_s: ["in", "Records served per second"], out_per_s: ["out", "Records put out per second"] } as const;

function Monitor({ vertex, reading }: { vertex: string; reading: ScalingReading | undefined }) {
  const { busy_ms, blocked_ms, fill, cpu, pending } = reading ?? {};
  const share = (ms: number | undefined) => (ms === undefined ? "–" : percent(ms / 1000));
  return (
    <>
      <b className="ell" title={vertex}>
        {vertex} <span className="mut">×{reading?.p ?? "?"}</span>
      </b>
      {busy_ms === undefined ? (
        <small className="mut" title="No instance of it has been read since it started">
          no sample
        </small>
      ) : (
        <>
          <div className="bar" aria-hidden="true">
            <i style={{ width: share(busy_ms).replace(" ", "") }} />
            <u style={{ width: share(blocked_ms).replace(" ", "") }} />
          </div>
          <Pairs
            rows={[
              { label: "busy", text: share(busy_ms), means: "Share of time in service" },
              ...(blocked_ms ? [{ label: "blocked", text: share(blocked_ms), means: "Share of time held up by backpressure" }] : []),
              ...(["in_per_s", "out_per_s"] as const).flatMap((name) => {
                const value = reading?.[name];
                return value === undefined ? [] : [{ label: RATES[name][0], text: `${short(value)}/s`, means: RATES[name][1] }];
              }),
              ...(fill ? [{ label: "fill", text: percent(fill), means: "Of its input buffers" }] : []),
              ...(cpu === undefined ? [] : [{ label: "CPU", text: percent(cpu), means: "As its pods report it" }]),
              ...(pending ? [{ label: "pending", text: short(pending), means: "Records that wait in its topic" }] : []),
            ]}
          />
        </>
      )}
    </>
  );
}

function Analyse({ decision, vertex }: { decision: ScalingDecision; vertex: string }) {
  const own = decision.values.filter(([, one]) => one === vertex);
  const slow = decision.bottlenecks.includes(vertex);
  return (
    <>
      {slow && (
        <span className="badge warn" title="The policy takes it for a bottleneck">
          <Icon name="warn" small />
          bottleneck
        </span>
      )}
      <Pairs rows={own.map(([name, , value]) => valueTold(name, value))} />
      {!own.length && !slow && <span className="mut">–</span>}
    </>
  );
}

function Plan({ decision, vertex }: { decision: ScalingDecision; vertex: string }) {
  const advice = decision.advice[vertex];
  if (advice === undefined) return <span className="mut">–</span>;
  const steps = decision.steps.flatMap(({ rule, parallelism }) => {
    const p = parallelism[vertex];
    const [label, means] = ruleTold(rule);
    return p === undefined ? [] : [{ label, text: `→ ${short(p)}`, means }];
  });
  return <Pairs rows={[{ label: "advice", text: short(advice), means: "Instances, before the rules" }, ...steps]} />;
}

/** What is done at last: the wish behind all rules, if an order was given. */
function Execute({
  decision,
  vertex,
  action,
  now,
  over,
}: {
  decision: ScalingDecision;
  vertex: string;
  action: RescaleAction | undefined;
  now: number | undefined;
  over: boolean;
}) {
  if (decision.verdict !== "order")
    return <span className="mut">{{ keep: "keep", no_metrics: "left out", busy: "under way" }[decision.verdict]}</span>;
  const wish = decision.steps.reduce((p, { parallelism }) => parallelism[vertex] ?? p, decision.advice[vertex]);
  const from = action?.before[vertex] ?? now;
  const to = action?.after[vertex] ?? wish ?? from;
  if (from === to || to === undefined) return <span className="mut">stays{from === undefined ? "" : ` at ${from}`}</span>;
  const down_s = action && downOf(action);
  return (
    <>
      <b className={to > (from ?? to) ? "more" : "less"}>
        {from} → {to}
      </b>
      <small className="mut">
        {!action
          ? "ordered"
          : action.outcome === "done"
            ? `done${typeof down_s === "number" ? `, down ${spell(down_s).replace(" ", "\u00a0")}` : ""}`
            : action.outcome === "aborted"
              ? "aborted"
              : `${over ? "not ended" : "under way"}: ${partsOf(action).at(-1)?.label ?? "ordered"}`}
      </small>
    </>
  );
}

const WAY: Record<"-1" | "0" | "1", string> = { "-1": "▼", "0": "=", "1": "▲" };

const DRAINED = "From going on until no more records waited in the topics than at the stop, or than come in a second; to the end of a frame";

/** All rescales, newest first. over: no frame will come. latest: the last one ordered at the moment held, if one is. */
function Rescales({
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
            <th title="Below it the parts of its time">Change</th>
            <th className="num" title="From the stop of the first source until the last one reads again">
              Down
            </th>
            <th className="num" title="Records more in the topics as it went on than as it stopped">
              Backlog
            </th>
            <th className="num" title={DRAINED}>
              Drained
            </th>
            <th className="num" title="State that another instance has now">
              Moved
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((action) => (
            <tr key={action.number} className={action.outcome} aria-current={action.number === latest?.number ? "true" : undefined}>
              <td className="num">
                <button className="btn ghost mini-text" title={`Show this moment: rescale ${action.number}, by the ${action.who}`} onClick={() => hold(action.ordered_s)}>
                  {moment(action.ordered_s)}
                </button>
              </td>
              <td title={partsText(action, head_s)}>
                <span title={["fewer workers", "as many workers", "more workers"][direction(action) + 1]}>{WAY[`${direction(action)}`]}</span>{" "}
                {changeText(action).replace(/ → /g, "\u00a0→\u00a0")}
                {action.outcome === "aborted" && <span className="bad"> aborted: {action.why || "no reason was given"}</span>}
                <RescaleParts action={action} head_s={head_s} />
                <span className="vh">{partsText(action, head_s)}</span>
              </td>
              <Told {...downTold(action, over)} />
              <Told {...backlogTold(action, over)} />
              <Told {...drainTold(history.drainOf(action, over))} />
              <Told
                text={action.stored_s === null || action.moved_bytes === null ? "–" : bytes(action.moved_bytes)}
                why={action.stored_s === null ? "No savepoint was written" : ""}
              />
            </tr>
          ))}
        </tbody>
      </table>
      {actions.length > ACTIONS_MAX && <p className="mut small none">And {plural(actions.length - ACTIONS_MAX, "earlier rescale")}.</p>}
    </>
  );
}

/** A number, or a dash and why there is none. */
function Told({ text, why }: { text: string; why: string }) {
  return (
    <td className={`num ${why ? "mut" : ""}`} title={why || undefined}>
      {text}
      {why && <span className="vh">: {why}</span>}
    </td>
  );
}

/** Why there is no number of what a rescale that ended did. */
const never = ({ stopped_s }: RescaleAction) => (stopped_s === null ? NO_SOURCE : "It did not go on");

function downTold(action: RescaleAction, over: boolean) {
  const down_s = downOf(action);
  if (down_s !== null) return { text: spell(down_s), why: "" };
  if (action.outcome) return { text: "–", why: never(action) };
  return over ? { text: "–", why: RUN_ENDED } : { text: "under way", why: "" };
}

function backlogTold(action: RescaleAction, over: boolean) {
  const { outcome, lag_before, lag_after } = action;
  if (lag_before === null || lag_after === null)
    return { text: "–", why: outcome ? never(action) : over ? RUN_ENDED : "It has not gone on yet" };
  const more = lag_after - lag_before;
  return { text: `${more > 0 ? "+" : ""}${short(more)}`, why: "" };
}

const drainTold = ({ seconds, why }: Drain) => ({ text: seconds === null ? "–" : spell(seconds), why });

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

