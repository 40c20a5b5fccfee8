import { memo, useState } from "react";
import type { Run } from "../api/types";
import type { RunEvent } from "../model/events";
import type { FaultMark } from "../model/faults";
import { Icon } from "../ui/Icon";
import { Tabs } from "../ui/Tabs";
import type { Address, PanelId } from "./address";
import { Checkpoints } from "./Checkpoints";
import { Events } from "./Events";
import { Notes } from "./Notes";
import { OperatorTimes } from "./OperatorTimes";
import { Records } from "./Records";
import { SummaryTable } from "./Summary";

/** What came of the run: its summary once it has one, what happened, where the time went, and single records. */
export const ResultPanel = memo(function ResultPanel({
  run,
  gone,
  events,
  losses,
  warmup_s,
  address,
  change,
}: {
  run: Run;
  gone: boolean;
  events: RunEvent[];
  /** When which host was lost; null for runs without a checkpointing protocol. */
  losses: FaultMark[] | null;
  warmup_s: number;
  address: Address;
  change: (changes: Partial<Address>) => void;
}) {
  const [large, setLarge] = useState(true);
  const has = { summary: Boolean(run.summary), checkpoints: losses !== null };
  const named = address.panel && (has as Partial<Record<PanelId, boolean>>)[address.panel] !== false ? address.panel : null;
  const panel: PanelId = named ?? (has.summary ? "summary" : "events");
  return (
    <section className={`panel p-events ${panel === "records" && large ? "large" : ""}`}>
      <Tabs
        label="Result"
        value={panel}
        onChange={(id) => change({ panel: id })}
        tabs={[
          ...(has.summary ? [{ id: "summary" as const, label: "Summary" }] : []),
          {
            id: "events",
            label: (
              <>
                Events <span className="mut">{events.length}</span>
              </>
            ),
          },
          ...(losses ? [{ id: "checkpoints" as const, label: "Checkpoints" }] : []),
          { id: "time", label: "Time" },
          { id: "records", label: "Records" },
          { id: "notes", label: run.said ? <>Notes <span className="mut">✓</span></> : "Notes" },
        ]}
        end={
          panel === "records" ? (
            <button
              className="btn ghost icon mini"
              title={large ? "Show topology and hosts beside the records" : "More room for the records"}
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
      {panel === "checkpoints" && losses && <Checkpoints losses={losses} />}
      {panel === "time" && <OperatorTimes warmup_s={warmup_s} />}
      {panel === "notes" && <Notes run={run} gone={gone} />}
      {panel === "records" && <Records run={run} address={address} change={change} />}
    </section>
  );
});
