import { memo, useMemo, useState } from "react";
import type { Frame, Run } from "../../api/types";
import { assertionsOf } from "../../model/document/assertions";
import { coerceDocument } from "../../model/document/coerce";
import type { FaultMark } from "../../model/document/faults";
import { queriesOf } from "../../model/document/queries";
import { isBalanced } from "../../model/run/balancing";
import type { RunEvent } from "../../model/run/events";
import { isScheduled } from "../../model/run/scheduling";
import { similarityJoins } from "../../model/run/spaces";
import { hasOutputLogs } from "../../model/run/outputLogs";
import { hasStandbys } from "../../model/run/standbys";
import { hasStores } from "../../model/run/stores";
import { Icon } from "../../ui/Icon";
import { Tabs } from "../../ui/Tabs";
import type { Address, PanelId } from "./address";
import { Autoscaler } from "./Autoscaler";
import { Balancing } from "./Balancing";
import { Checkpoints } from "./Checkpoints";
import { Events } from "./Events";
import { Instances } from "./Instances";
import { Notes } from "./Notes";
import { OnSpark } from "./OnSpark";
import { OperatorTimes } from "./OperatorTimes";
import { Queries } from "./Queries";
import { Records } from "./Records";
import { Scheduler } from "./Scheduler";
import { Spaces } from "./Spaces";
import { OutputLogs } from "./OutputLogs";
import { Standbys } from "./Standbys";
import { Stores } from "./Stores";
import { SummaryTable } from "./Summary";
import { Verdicts } from "./Verdicts";

/** They take the room of topology and hosts, unless somebody wants to see these, too. */
const WIDE: PanelId[] = ["records", "autoscaler", "queries", "scheduler", "spaces", "balancing", "stores", "output_logs", "standbys", "instances", "spark"];

/** What came of the run: its summary once it has one, what happened, where the time went, and single records. */
export const ResultPanel = memo(function ResultPanel({
  run,
  gone,
  events,
  losses,
  scaled,
  warmup_s,
  moment_s,
  address,
  change,
  onRescale,
}: {
  run: Run;
  gone: boolean;
  events: RunEvent[];
  /** When which host was lost; null for runs without a checkpointing protocol. */
  losses: FaultMark[] | null;
  /** Its parallelism may change. */
  scaled: boolean;
  warmup_s: number;
  /** The moment held; null: the head of the run. */
  moment_s: number | null;
  address: Address;
  change: (changes: Partial<Address>) => void;
  onRescale: (frame: Frame) => void;
}) {
  const [large, setLarge] = useState(true);
  const document = useMemo(() => coerceDocument(run.executed ?? run.document), [run.executed, run.document]);
  const has = {
    summary: Boolean(run.summary),
    assertions: assertionsOf(document).length > 0,
    checkpoints: losses !== null,
    autoscaler: scaled,
    queries: queriesOf(document).length > 0,
    scheduler: isScheduled(document),
    spaces: similarityJoins(document).length > 0,
    balancing: isBalanced(document),
    stores: hasStores(document),
    output_logs: hasOutputLogs(document),
    standbys: hasStandbys(document),
  };
  const named = address.panel && (has as Partial<Record<PanelId, boolean>>)[address.panel] !== false ? address.panel : null;
  const panel: PanelId = named ?? (has.summary ? "summary" : "events");
  return (
    <section className={`panel p-events ${WIDE.includes(panel) && large ? "large" : ""}`}>
      <Tabs
        label="Result"
        value={panel}
        onChange={(id) => change({ panel: id })}
        tabs={[
          ...(has.summary ? [{ id: "summary" as const, label: "Summary" }] : []),
          ...(has.assertions ? [{ id: "assertions" as const, label: "Assertions" }] : []),
          {
            id: "events",
            label: (
              <>
                Events <span className="mut">{events.length}</span>
              </>
            ),
          },
          ...(scaled ? [{ id: "autoscaler" as const, label: "Autoscaler" }] : []),
          ...(losses ? [{ id: "checkpoints" as const, label: "Checkpoints" }] : []),
          { id: "time", label: "Time" },
          ...(has.queries ? [{ id: "queries" as const, label: "Queries" }] : []),
          ...(has.scheduler ? [{ id: "scheduler" as const, label: "Scheduler" }] : []),
          ...(has.spaces ? [{ id: "spaces" as const, label: "Space" }] : []),
          ...(has.balancing ? [{ id: "balancing" as const, label: "Balancing" }] : []),
          ...(has.stores ? [{ id: "stores" as const, label: "Stores" }] : []),
          ...(has.output_logs ? [{ id: "output_logs" as const, label: "Output logs" }] : []),
          ...(has.standbys ? [{ id: "standbys" as const, label: "Standbys" }] : []),
          { id: "instances", label: "Instances" },
          { id: "records", label: "Records" },
          { id: "spark", label: "Spark" },
          { id: "notes", label: run.said ? <>Notes <span className="mut">✓</span></> : "Notes" },
        ]}
        end={
          WIDE.includes(panel) ? (
            <button
              className="btn ghost icon mini"
              title={large ? "Show topology and hosts again" : `More room for the ${panel}`}
              aria-label="More room"
              aria-pressed={large}
              onClick={() => setLarge(!large)}
            >
              <Icon name={large ? "minus" : "fit"} small />
            </button>
          ) : (
          <span className="mono digest ell" title={`Digest ${run.digest ?? "–"}${run.engine_version ? `, engine version ${run.engine_version}` : ""}`}>
            {run.digest ? `digest ${run.digest.slice(0, 12)}` : ""}
          </span>
          )
        }
      />
      {panel === "events" && <Events events={events} />}
      {panel === "summary" && <SummaryTable run={run} />}
      {panel === "assertions" && <Verdicts run={run} />}
      {panel === "autoscaler" && <Autoscaler document={document} onRescale={onRescale} />}
      {panel === "checkpoints" && losses && <Checkpoints losses={losses} />}
      {panel === "time" && <OperatorTimes warmup_s={warmup_s} />}
      {panel === "queries" && <Queries document={document} />}
      {panel === "scheduler" && <Scheduler document={document} />}
      {panel === "spaces" && <Spaces run={run} document={document} gone={gone} />}
      {panel === "balancing" && <Balancing document={document} />}
      {panel === "stores" && <Stores />}
      {panel === "output_logs" && <OutputLogs />}
      {panel === "standbys" && <Standbys />}
      {panel === "notes" && <Notes run={run} gone={gone} />}
      {panel === "instances" && (
        <Instances
          run={run}
          document={document}
          operator={document.query.operators.some(({ id }) => id === address.of) ? address.of : ""}
          moment_s={moment_s}
          onOperator={(of) => change({ of })}
        />
      )}
      {panel === "spark" && <OnSpark run={run} id={address.spark} onShow={(spark) => change({ spark })} />}
      {panel === "records" && <Records run={run} address={address} change={change} />}
    </section>
  );
});
