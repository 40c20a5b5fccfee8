import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { ApiError, post } from "../../api/client";
import type { ExperimentDocument } from "../../api/document";
import { registryQuery } from "../../api/queries";
import type { Frame, Json, Run, Validation } from "../../api/types";
import { plural } from "../../lib/format";
import { forkRefusal, rescaleBody } from "../../model/run/fork";
import { isAsked, isScaled, parallelismAt, probed, rescaleProbe, rescaleRefusal, scalingOf, verticesOf } from "../../model/run/scaling";
import { useRefusal } from "../../session/who";
import { FormDialog } from "../../ui/FormDialog";
import { Icon } from "../../ui/Icon";
import { NumberInput, useUnreadInDialog } from "../../ui/NumberInput";
import { toast } from "../../ui/toasts";
import { useLiveRun } from "./liveRun";

/**
 * Where scaling is looked at, and beside the hosts where a run has no scaling: asks for a rescale at the frame that is held, else at the
 * last one. A moment that is only pointed at changes on the way to the button.
 */
export function RescaleButton({ document, onRescale }: { document: ExperimentDocument; onRescale: (frame: Frame) => void }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const pinned_s = useLiveRun((state) => state.pinned_s);
  const horizon_s = useLiveRun((state) => state.run?.horizon_s ?? Infinity);
  const gone = useLiveRun((state) => state.refused?.why === "gone");
  const n = pinned_s === null ? count - 1 : Math.min(log.numberAt(pinned_s), count - 1);
  const at_s = n < 0 ? null : log.timeOf(n);
  const { data: registry = {} } = useQuery(registryQuery);
  const refusal = useRefusal() ?? rescaleRefusal(document, registry) ?? forkRefusal(at_s, horizon_s, gone);
  const ask = () => {
    const frame = log.frame(n);
    if (refusal === null && frame) onRescale(frame);
  };
  return (
    <button
      className="btn ghost mini-text"
      aria-disabled={refusal !== null || undefined}
      title={refusal ?? `Change the parallelism at ${at_s?.toFixed(2)} s, in a fork of this run`}
      data-testid="rescale"
      onClick={ask}
    >
      <Icon name="scale" small />
      Rescale
    </button>
  );
}

/** More than this no operator can have: as many as key groups and partitions can be. */
const PARALLELISM_MAX = 32_768;

const KINDS = [
  { kind: "stop_and_restart", label: "Stop and restart", means: "sources stop, records in progress are processed, and the job restarts from a savepoint" },
  { kind: "in_place", label: "In place", means: "only operators that change, and those that send to them, stop" },
] as const;

/** Another run, the same up to this moment, in which the parallelism changes. The page follows it. */
export function Rescale({
  run,
  document,
  frame,
  onClose,
}: {
  run: Run;
  document: ExperimentDocument;
  /** A live run goes on while one chooses; this stays. */
  frame: Frame;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const at_s = frame.t_s;
  const before = parallelismAt(document, frame.scaling);
  const [wished, setWished] = useState(before);
  const vertices = verticesOf(document);
  const rescaling = scalingOf(document).rescaling as { kind?: string; restart_s?: number } | undefined;
  const kind = rescaling?.kind ?? "stop_and_restart";
  const { data: registry = {} } = useQuery(registryQuery);
  const { data: probe } = useQuery(probeQuery(run, document, at_s, kind === "in_place" ? "stop_and_restart" : "in_place"));
  const make = useMutation({
    mutationFn: () => post<Run>(`/api/runs/${run.id}/fork`, rescaleBody(at_s, before, wished)),
    onSuccess: (made) => {
      onClose();
      toast(made.note ?? `Run ${made.number} is rescaled at ${at_s.toFixed(2)} s`, { seconds: 8 });
      void client.invalidateQueries({ queryKey: ["runs"] });
      void navigate(`/runs/${made.id}`);
    },
  });
  const changed = vertices.some(([first = ""]) => wished[first] !== before[first]);
  const wrong = vertices.find(([first = ""]) => !isCount(wished[first]));
  const unread = useUnreadInDialog();
  const why = probe?.all
    ? "This run cannot be rescaled"
    : unread ||
      (wrong
        ? `The parallelism of ${wrong[0]} is a whole number from 1 to ${PARALLELISM_MAX.toLocaleString("en-US")}`
        : changed
          ? ""
          : "No parallelism changed yet");
  const workers = Object.values(wished).reduce((sum, p) => sum + (p || 0), 0);
  const problem = make.error instanceof ApiError ? (make.error.problems[0]?.message ?? make.error.message) : make.error?.message;
  const set = (vertex: string[], p: number) => setWished({ ...wished, ...Object.fromEntries(vertex.map((id) => [id, p])) });
  return (
    <FormDialog
      title={`Rescale at ${at_s.toFixed(2)} s`}
      verb="Rescale and follow"
      why={why}
      busy={make.isPending}
      onSubmit={make.mutate}
      onClose={onClose}
      testId="rescale-go"
    >
      <p>
        Run {run.number} stays as it is. A fork of it, identical up to {at_s.toFixed(2)} s, continues with this parallelism.
      </p>
      <ul className="steppers" data-testid="steppers">
        {vertices.map((vertex, at) => (
          <Stepper
            key={vertex.join()}
            vertex={vertex}
            was={before[vertex[0] ?? ""] ?? 1}
            p={wished[vertex[0] ?? ""] ?? 1}
            stays={vertex.map((id) => probe?.stays[id]).find(Boolean)}
            first={at === 0}
            onChange={(p) => set(vertex, p)}
          />
        ))}
      </ul>
      <p className="mut small" data-testid="wished-workers">
        {plural(workers, "instance")}, {plural(Object.values(before).reduce((sum, p) => sum + p, 0), "instance")} now
      </p>
      <fieldset className="comes-back">
        <legend>How?</legend>
        {KINDS.map(({ kind: one, label, means }) => {
          const says = one === kind ? means : probe?.other || otherKind(label, document);
          return (
            <label key={one} className={one === kind ? "" : "off"} title={says} data-testid={`rescaling-${one}`}>
              <input type="radio" name="rescaling" checked={one === kind} disabled={one !== kind} readOnly />
              <span>
                {label}: {says}
              </span>
            </label>
          );
        })}
      </fieldset>
      <p className="remark" data-testid="rescale-means">
        <Icon name="info" small />
        <span>
          {kind === "stop_and_restart"
            ? `Sources read nothing until the job has restarted: at least ${rescaling?.restart_s ?? 30} s plus the time for state and records in progress. Topics fill meanwhile.`
            : "Operators that neither change nor send to one that changes keep running."}
          {isAsked(document, registry) && " The policy keeps deciding afterwards."}
        </span>
      </p>
      {(problem ?? probe?.all) && (
        <p className="remark err" role="alert">
          {problem ?? probe?.all}
        </p>
      )}
    </FormDialog>
  );
}

const isCount = (p: number | undefined) => Number.isInteger(p) && (p ?? 0) >= 1 && (p ?? 0) <= PARALLELISM_MAX;

/** What the server says of rescaling this run, asked with an order that changes all: nothing is stored. */
const probeQuery = (run: Run, document: ExperimentDocument, at_s: number, other: string) =>
  queryOptions({
    queryKey: ["rescaling", run.id, at_s],
    queryFn: async () => {
      const asked = rescaleProbe(document, at_s, other);
      return probed((await post<Validation>("/api/validate", { document: asked as unknown as Json })).problems);
    },
    staleTime: Infinity,
    retry: false,
  });

/** Why a fork cannot be rescaled in this other way, where the server would take it in an experiment. */
const otherKind = (label: string, document: ExperimentDocument) =>
  isScaled(document)
    ? `a fork rescales as set in its experiment (Policies, Scaling, Rescaling), which is not “${label.toLowerCase()}”`
    : `the run has no scaling policy and rescales by stop and restart; “${label.toLowerCase()}” is set in an experiment (Policies, Scaling, Rescaling)`;

/** Operators that forward edges connect move together. */
function Stepper({
  vertex,
  was,
  p,
  stays,
  first,
  onChange,
}: {
  vertex: string[];
  was: number;
  p: number;
  /** Why its parallelism cannot change. */
  stays: string | undefined;
  first: boolean;
  onChange: (p: number) => void;
}) {
  const name = vertex.join(", ");
  const step = (by: number) => {
    const next = (Number.isNaN(p) ? was : p) + by;
    const at = stays ? stays : next < 1 ? "The minimum is one instance" : next > PARALLELISM_MAX ? `${PARALLELISM_MAX.toLocaleString("en-US")} instances are the maximum` : "";
    const label = `One instance ${by < 0 ? "fewer" : "more"} of ${name}`;
    return (
      <button type="button" aria-label={label} title={at || label} disabled={Boolean(at)} onClick={() => onChange(next)}>
        <Icon name={by < 0 ? "minus" : "plus"} small />
      </button>
    );
  };
  return (
    <li>
      <span className="ell" title={vertex.length > 1 ? `${name}: forward edges connect them, so they share one parallelism` : name}>
        {name}
      </span>
      <div>
        <NumberInput
          label={name}
          aria-label={`Parallelism of ${name}`}
          around={[step(-1), step(1)]}
          value={Number.isNaN(p) ? undefined : p}
          least={1}
          most={PARALLELISM_MAX}
          aria-invalid={!isCount(p)}
          disabled={Boolean(stays)}
          title={stays}
          {...(first ? { "data-autofocus": true } : {})}
          onChange={(next) => onChange(next ?? NaN)}
        />
      </div>
      <span className={p === was ? "mut" : "changed"} title={stays}>
        {stays ? "fixed" : p === was ? "unchanged" : `${was} now`}
      </span>
      {stays && <small className="mut">{stays}</small>}
    </li>
  );
}
