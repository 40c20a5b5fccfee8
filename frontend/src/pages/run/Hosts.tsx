import { useState } from "react";
import type { ExperimentDocument } from "../../api/document";
import type { Frame, HostSample, Run } from "../../api/types";
import { bytes, percent, short } from "../../lib/format";
import { coerceDocument } from "../../model/document/coerce";
import type { FaultMark } from "../../model/document/faults";
import { expandHosts } from "../../model/document/hosts";
import { forkRefusal } from "../../model/run/fork";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { KillHost } from "./KillHost";

/** What its memory model says, for the title. */
const held = ({ memory }: HostSample) =>
  memory ? `, ${bytes(memory.used_bytes)} of memory in use${memory.slow_down > 1 ? `, services x ${memory.slow_down.toFixed(2)}` : ""}` : "";

/** A host, or the busiest of its instances, is saturated from this share of the time. */
const FULL_FROM = 0.95;

/** Whether a host has a memory model; where bytes are only counted, frames have none. */
export const weighsMemory = (document: ExperimentDocument) =>
  document.cluster.hosts.some(({ memory }) => memory && memory.kind !== "counted");

/** CPU time, waiting records and, where it is modelled, memory of every host at the moment shown; a bolt while a fault befalls it. */
export function Hosts({
  document,
  frame,
  faults,
  run,
  gone,
}: {
  document: ExperimentDocument;
  frame: Frame | undefined;
  faults: FaultMark[];
  run: Run;
  gone: boolean;
}) {
  const [killed, setKilled] = useState<string | null>(null);
  const drawn = new Set(expandHosts(coerceDocument(run.document)).map(({ name }) => name));
  const cannotFork = useRefusal() ?? forkRefusal(frame?.t_s ?? null, run.horizon_s ?? Infinity, gone);
  const memory = weighsMemory(document);
  const hosts = expandHosts(document);
  return (
    <div className="scroll hosts-scroll">
      <ul className={`hosts ${memory ? "weighed" : ""}`} data-testid="hosts">
        {hosts.map(({ name }) => {
          const sample = frame?.hosts?.[name];
          const busy = sample?.busy ?? 0;
          const busiest = sample?.busiest;
          const refusal = drawn.has(name) ? cannotFork : `${name} feeds the engine, and is not a host of the experiment`;
          const full = Math.max(busy, busiest?.busy ?? 0) >= FULL_FROM;
          const struck = frame && faults.find((fault) => fault.host === name && fault.start_s < frame.t_s && frame.t_s <= fault.end_s);
          return (
            <li
              key={name}
              title={
                sample
                  ? `${name}: busy ${percent(busy)}${busiest ? `, busiest instance ${busiest.operator}[${busiest.index}] ${percent(busiest.busy)}` : ""}, ${short(sample.queue ?? 0)} records waiting, ${short(sample.egress_mbit_per_s ?? 0)} Mbit/s out${held(sample)}`
                  : `${name}: no data yet`
              }
            >
              <span className="who" title={struck ? struck.text : undefined}>
                <span className="ell">{name}</span>
                {struck && <Icon name="bolt" small />}
              </span>
              <div className={`bar ${full ? "full" : ""}`}>
                <i style={{ width: `${Math.min(100, busy * 100)}%` }} />
                {busiest && <em style={{ left: percent(busiest.busy).replace(" ", "") }} />}
              </div>
              <span className={full ? "full" : ""} data-testid={full ? `saturated-${name}` : undefined}>
                {sample ? percent(busy) : "–"}
              </span>
              <span>{sample ? short(sample.queue ?? 0) : "–"}</span>
              <span>
                {sample?.egress_mbit_per_s === null || sample?.egress_mbit_per_s === undefined ? "–" : short(sample.egress_mbit_per_s)}
              </span>
              {memory && (
                <span className={sample?.memory && sample.memory.slow_down > 1 ? "slowed" : ""}>
                  {sample?.memory ? bytes(sample.memory.used_bytes) : "–"}
                </span>
              )}
              <button
                className="btn ghost icon kill"
                aria-label={`Kill ${name}`}
                aria-disabled={refusal !== null || undefined}
                title={refusal ?? `Kill ${name} at ${frame?.t_s.toFixed(2)} s, in a fork of this run`}
                onClick={() => refusal === null && setKilled(name)}
              >
                <Icon name="power" small />
              </button>
            </li>
          );
        })}
      </ul>
      {killed !== null && frame && (
        <KillHost run={run} document={document} host={killed} at_s={frame.t_s} onClose={() => setKilled(null)} />
      )}
    </div>
  );
}
