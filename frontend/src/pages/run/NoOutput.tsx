import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { post } from "../../api/client";
import type { ExperimentDocument } from "../../api/document";
import type { Json, Run, Validation } from "../../api/types";
import { hasNoOutput, whereRecordsStop } from "../../model/run/noOutput";
import { Icon } from "../../ui/Icon";

/** A run that succeeded although its sinks received nothing: says so, and why as far as the document and the counts tell. */
export function NoOutput({ run, document }: { run: Run; document: ExperimentDocument }) {
  const nothing = run.state === "succeeded" && hasNoOutput(run.summary);
  const { data } = useQuery({
    queryKey: ["warnings", run.id],
    enabled: nothing,
    staleTime: Infinity,
    queryFn: ({ signal }) => post<Validation>("/api/validate", { document: document as unknown as Json }, signal),
  });
  if (!nothing) return null;
  const warnings = (data?.problems ?? []).filter(({ severity }) => severity === "warning");
  const first = warnings.filter(({ code }, n) => warnings.findIndex((other) => other.code === code) === n); // of each kind
  return (
    <div className="bar-note" role="status" data-testid="no-output">
      <Icon name="warn" />
      <span>
        The sinks received no records.{" "}
        {first.length ? first.map(({ message }) => sentence(message)).join(" ") : whereRecordsStop(run.summary, document)}
      </span>
      <span className="grow" />
      <Link className="btn" to={`/experiments/${run.experiment.id}`}>
        Change the experiment
      </Link>
    </div>
  );
}

const sentence = (message: string) => `${message.replace(/^./, (letter) => letter.toUpperCase())}.`;
