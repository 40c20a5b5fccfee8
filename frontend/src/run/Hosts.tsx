import type { Frame, HostSample } from "../api/types";
import type { ExperimentDocument } from "../model/document";
import { expandHosts } from "../model/hosts";
import { percent, short } from "../ui/format";

/** What its memory model says, for the title. */
const held = ({ memory }: HostSample) =>
  memory ? `, ${short(memory.used_bytes)}B of memory in use${memory.slow_down > 1 ? `, services x ${memory.slow_down.toFixed(2)}` : ""}` : "";

/** CPU time and waiting records of every host at the moment shown. */
export function Hosts({ document, frame }: { document: ExperimentDocument; frame: Frame | undefined }) {
  const hosts = expandHosts(document);
  return (
    <div className="scroll hosts-scroll">
      <ul className="hosts" data-testid="hosts">
        {hosts.map(({ name }) => {
          const sample = frame?.hosts?.[name];
          const busy = sample?.busy ?? 0;
          return (
            <li
              key={name}
              title={
                sample
                  ? `${name}: busy ${percent(busy)}, ${short(sample.queue ?? 0)} records wait, ${short(sample.egress_mbit_per_s ?? 0)} Mbit/s out${held(sample)}`
                  : `${name}: no data yet`
              }
            >
              <span className="ell">{name}</span>
              <div className="bar">
                <i style={{ width: `${Math.min(100, busy * 100)}%` }} />
              </div>
              <span>{sample ? percent(busy) : "–"}</span>
              <span>{sample ? short(sample.queue ?? 0) : "–"}</span>
              <span>
                {sample?.egress_mbit_per_s === null || sample?.egress_mbit_per_s === undefined ? "–" : short(sample.egress_mbit_per_s)}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
