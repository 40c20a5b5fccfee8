import type { ExperimentDocument } from "../../api/document";
import type { RescaleAction, ScalingDecision, ScalingReading } from "../../api/types";
import { percent, short } from "../../lib/format";
import { downOf, isUnbounded, partsOf, requestTold, ruleTold, spell, valueTold } from "../../model/run/scaling";
import { Icon } from "../../ui/Icon";

const COLUMNS: [title: string, means: string][] = [
  ["Monitor", "Metrics read for each vertex: means over its instances and the window; rates are totals"],
  ["Analyse", "Values the policy computed from the metrics"],
  ["Plan", "Parallelism it requested, and the effect of each rule on it"],
  ["Execute", "The order, and its outcome"],
];

/**
 * An iteration as monitor, analyse, plan and execute. A row for each vertex; those that share a name with an operator stand for all that
 * forward edges connect to it.
 */
export function Mape({
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
              No metrics were read in this iteration.
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

const RATES = { in_per_s: ["in", "Records processed per second"], out_per_s: ["out", "Records emitted per second"] } as const;

function Monitor({ vertex, reading }: { vertex: string; reading: ScalingReading | undefined }) {
  const { busy_ms, blocked_ms, fill, cpu, pending, cores, host } = reading ?? {};
  const share = (ms: number | undefined) => (ms === undefined ? "–" : percent(ms / 1000));
  return (
    <>
      <b className="ell" title={vertex}>
        {vertex} <span className="mut">{host === undefined ? `×${reading?.p ?? "?"}` : `on ${host}`}</span>
      </b>
      {cores !== undefined ? (
        <Pairs rows={[{ label: "CPU", text: `${short(cores)} cores`, means: "CPU that it takes, in cores of speed 1" }]} />
      ) : busy_ms === undefined ? (
        <small className="mut" title="No metrics of its instances since they started">
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
              ...(blocked_ms ? [{ label: "blocked", text: share(blocked_ms), means: "Share of time blocked by backpressure" }] : []),
              ...(["in_per_s", "out_per_s"] as const).flatMap((name) => {
                const value = reading?.[name];
                return value === undefined ? [] : [{ label: RATES[name][0], text: `${short(value)}/s`, means: RATES[name][1] }];
              }),
              ...(fill ? [{ label: "fill", text: percent(fill), means: "Share of its input buffers in use" }] : []),
              ...(cpu === undefined ? [] : [{ label: "CPU", text: percent(cpu), means: "As reported by its pods" }]),
              ...(pending ? [{ label: "pending", text: short(pending), means: "Records waiting in its topic" }] : []),
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
        <span className="badge warn" title="The policy considers it a bottleneck">
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
    return p === undefined ? [] : [{ label, text: `→ ${requestTold(p)}`, means }];
  });
  return (
    <>
      <Pairs rows={[{ label: "advice", text: requestTold(advice), means: "Instances requested, before the rules" }, ...steps]} />
      {isUnbounded(advice) && (
        <small className="mut">It served nothing in the window, so it has no true rate. As published, the policy then requests the maximum.</small>
      )}
    </>
  );
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
    return <span className="mut">{{ keep: "keep", no_metrics: "skipped", busy: "in progress" }[decision.verdict]}</span>;
  const move = action?.moves?.[vertex];
  const wish = decision.steps.reduce((p, { parallelism }) => parallelism[vertex] ?? p, decision.advice[vertex]);
  const from = action?.before[vertex] ?? now;
  const to = action?.after[vertex] ?? wish ?? from;
  if (!move && Object.keys(action?.moves ?? {}).length) return <span className="mut">stays</span>;
  if (!move && (from === to || to === undefined)) return <span className="mut">unchanged{from === undefined ? "" : ` at ${from}`}</span>;
  const down_s = action && downOf(action);
  return (
    <>
      {move ? (
        <b>
          {move[0]} → {move[1]}
        </b>
      ) : (
        <b className={(to ?? 0) > (from ?? to ?? 0) ? "more" : "less"}>
          {from} → {to}
        </b>
      )}
      <small className="mut">
        {!action
          ? "ordered"
          : action.outcome === "done"
            ? `done${typeof down_s === "number" ? `, down ${spell(down_s).replace(" ", "\u00a0")}` : ""}`
            : action.outcome === "aborted"
              ? "aborted"
              : `${over ? "not ended" : "in progress"}: ${partsOf(action).at(-1)?.label ?? "ordered"}`}
      </small>
    </>
  );
}
