import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { get, post } from "../../api/client";
import { isActive } from "../../api/queries";
import type { Diagnosis as Found, Remedy, Run } from "../../api/types";
import { latency, short } from "../../lib/format";
import { compareLink } from "../../model/run/compare";
import { queryOf, spanOf, type Span } from "../../model/run/diagnosis";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";

/** How long an answer about a run in progress counts as new, ms: about as often as its frames are stored. */
const FRESH_MS = 3000;

/** What limits the run at the moment held, or as a whole, with the evidence and what would help. */
export function Diagnosis({
  run,
  moment_s,
  frame_s,
  onInstances,
}: {
  run: Run;
  moment_s: number | null;
  frame_s: number;
  onInstances: (operator: string) => void;
}) {
  const [open, setOpen] = useState(false);
  const active = isActive(run);
  const span = spanOf(moment_s, frame_s);
  const query = queryOf(span);
  const { data, error } = useQuery({
    queryKey: ["diagnosis", run.id, run.state, query],
    queryFn: ({ signal }) => get<Found>(`/api/runs/${run.id}/diagnosis${query}`, signal),
    enabled: run.frames > 0,
    staleTime: active ? FRESH_MS : Infinity,
    refetchInterval: active && moment_s === null ? FRESH_MS : false,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (!data || error) return null; // without stored frames there is nothing to say yet
  const good = data.kind === "nothing";
  return (
    <section className={`diagnosis ${good ? "good" : ""}`} aria-label="What limits this run" data-testid="diagnosis" data-kind={data.kind}>
      <div className="verdict">
        <Icon name={good ? "checkc" : data.kind === "unclear" ? "askc" : "warn"} />
        <p>
          {data.sentence} <span className="mut">{spanText(data)}</span>
        </p>
        {data.operator && (
          <button className="btn" onClick={() => onInstances(data.kind === "cores" ? "" : (data.operator ?? ""))}>
            {data.kind === "cores" ? "Instances" : `Instances of ${data.operator}`}
          </button>
        )}
        {(data.evidence.length > 0 || data.remedies.length > 0) && (
          <button className="btn ghost" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={open ? "down" : "right"} small />
            {data.remedies.length ? "Evidence and remedies" : "Evidence"}
          </button>
        )}
      </div>
      {open && (
        <div className="grounds">
          <dl data-testid="evidence">
            {data.evidence.map(({ label, value }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          {data.remedies.length > 0 && <Remedies run={run} found={data} span={span} />}
        </div>
      )}
    </section>
  );
}

const spanText = ({ from_s, to_s }: Found) => `${short(from_s)} to ${short(to_s)} s`;

function Remedies({ run, found, span }: { run: Run; found: Found; span: Span }) {
  const client = useQueryClient();
  const refusal = useRefusal();
  const start = useMutation({
    mutationFn: (name: string) => post<Run>(`/api/runs/${run.id}/remedies`, { name, ...span }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["diagnosis", run.id] }),
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  return (
    <ul className="remedies" aria-label="What would help" data-testid="remedies">
      {found.remedies.map((remedy) => (
        <li key={remedy.name}>
          <span>{remedy.text}</span>
          {remedy.run ? (
            <RunOf remedy={remedy} of={run} />
          ) : (
            <button
              className="btn"
              aria-disabled={Boolean(refusal ?? (start.isPending || undefined))}
              title={refusal ?? "Run this experiment again with this change alone"}
              onClick={() => !refusal && !start.isPending && start.mutate(remedy.name)}
            >
              <Icon name="play" small />
              Try it
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function RunOf({ remedy, of }: { remedy: Remedy; of: Run }) {
  const client = useQueryClient();
  const moving = remedy.run?.state === "queued" || remedy.run?.state === "running";
  useQuery({
    queryKey: ["remedy", remedy.run?.id],
    enabled: moving,
    refetchInterval: moving ? 1000 : false,
    queryFn: async () => {
      await client.invalidateQueries({ queryKey: ["diagnosis", of.id] });
      return null;
    },
  });
  if (!remedy.run) return null;
  return (
    <span className="effect">
      {remedy.run.effects.map(({ label, unit, before, after }) => (
        <span key={label} className="mut">
          {label} {valueText(before, unit)} → <b>{valueText(after, unit)}</b>
        </span>
      ))}
      {!remedy.run.effects.length && <span className="mut">{remedy.run.state}</span>}
      <Link to={`/runs/${remedy.run.id}`}>Run #{remedy.run.number}</Link>
      {remedy.run.effects.length > 0 && <Link to={compareLink([of.id, remedy.run.id])}>Compare</Link>}
    </span>
  );
}

function valueText(value: number | null, unit: string): string {
  if (value === null) return "–";
  return unit === "ms" ? latency(value).join(" ") : `${short(value)}${unit}`;
}
