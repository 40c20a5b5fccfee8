import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { ApiError, post } from "../../api/client";
import type { ExperimentDocument } from "../../api/document";
import { isActive, registryQuery } from "../../api/queries";
import type { Run } from "../../api/types";
import { killBody, LOSSES, lossMeans, secondsIn, type Losing } from "../../model/run/fork";
import { hasOutputLogs } from "../../model/run/outputLogs";
import { hasStores } from "../../model/run/stores";
import { FormDialog } from "../../ui/FormDialog";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";

interface Props {
  run: Run;
  document: ExperimentDocument;
  host: string;
  at_s: number;
  onClose: () => void;
}

/** Another run, the same up to this moment, in which a host is lost. A live one is then followed, an ended one compared with it. */
export function KillHost({ run, document, host, at_s: shown_s, onClose }: Props) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [at_s] = useState(shown_s); // a live run goes on while one chooses
  const { data: registry = {} } = useQuery(registryQuery);
  const means = lossMeans(document, registry);
  const stores = hasStores(document);
  const onlyItself = stores || hasOutputLogs(document); // nobody else reads its input and its logs
  const [losing, setLosing] = useState<Losing>(stores ? "process_crash" : "host_loss");
  const [back, setBack] = useState(true);
  const [after, setAfter] = useState("2");
  const after_s = secondsIn(after);
  const live = isActive(run);
  const kill = useMutation({
    mutationFn: () => post<Run>(`/api/runs/${run.id}/fork`, killBody(host, at_s, back ? after_s : null, losing)),
    onSuccess: (made) => {
      onClose();
      toast(made.note ?? `${host} is lost at ${at_s.toFixed(2)} s of run ${made.number}`, { seconds: 8 });
      void client.invalidateQueries({ queryKey: ["runs"] });
      void navigate(live ? `/runs/${made.id}` : `/compare?runs=${run.id},${made.id}`);
    },
  });
  const why = back && after_s === null ? "Enter a number of seconds above 0, such as 2" : "";
  const problem = kill.error instanceof ApiError ? (kill.error.problems[0]?.message ?? kill.error.message) : kill.error?.message;
  return (
    <FormDialog
      title={`Kill ${host} at ${at_s.toFixed(2)} s`}
      verb={live ? "Kill and follow" : "Kill and compare"}
      why={why}
      busy={kill.isPending}
      onSubmit={kill.mutate}
      onClose={onClose}
      testId="kill-go"
    >
      <p>
        Run {run.number} stays as it is. A fork of it, identical up to {at_s.toFixed(2)} s, then loses {host} and everything in its memory.
      </p>
      {stores && (
        <fieldset className="comes-back" data-testid="losing">
          <legend>What does it lose?</legend>
          {(Object.entries(LOSSES) as [Losing, string][]).map(([kind, text]) => (
            <label key={kind}>
              <input type="radio" name="losing" checked={losing === kind} onChange={() => setLosing(kind)} />
              {text}
            </label>
          ))}
        </fieldset>
      )}
      <fieldset className="comes-back">
        <legend>Does it come back?</legend>
        <label>
          <input type="radio" name="back" data-autofocus checked={back} onChange={() => setBack(true)} />
          Yes, after
          <span className="in seconds">
            <input
              inputMode="decimal"
              aria-label="Seconds until it is back"
              aria-invalid={Boolean(why)}
              value={after}
              onFocus={() => setBack(true)}
              onChange={(event) => setAfter(event.target.value)}
            />
            <span>s</span>
          </span>
        </label>
        <label title={onlyItself ? "Nobody else would read its input and its logs" : undefined}>
          <input type="radio" name="back" checked={!back} disabled={onlyItself} onChange={() => setBack(false)} />
          No, it is lost permanently{means.replaced ? "; a spare host takes its place" : ""}
        </label>
      </fieldset>
      <p className="remark" data-testid="loss-means">
        <Icon name="info" small />
        <span>{means.text}</span>
      </p>
      {problem && (
        <p className="remark err" role="alert">
          {problem}
        </p>
      )}
    </FormDialog>
  );
}
