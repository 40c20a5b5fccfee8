import { useMutation } from "@tanstack/react-query";
import { post } from "../../../api/client";
import type { Json, Kind, Validation } from "../../../api/types";
import { isError } from "../../../model/document/validate";
import type { Draft } from "../../../model/study/draft";
import { comparing, engineAxis, executable } from "../../../model/study/engines";
import type { Field } from "../../../model/study/fields";
import type { StudyDocument } from "../../../model/study/study";
import { Icon } from "../../../ui/Icon";
import { toast } from "../../../ui/toasts";

/** Adds every engine that can execute the experiment as an axis, and the search for what each sustains. */
export function WhichEngine({
  study,
  fields,
  engines,
  change,
}: {
  study: StudyDocument;
  fields: Field[];
  engines: readonly Kind[];
  change: (changes: Partial<Draft>) => void;
}) {
  const ask = useMutation({
    mutationFn: () => executable(study.experiment, engines, errorsOf),
    onSuccess: ({ experiment, values, said }) => {
      if (!values.length) return toast(`No engine can execute this experiment. ${said.join(" ")}`, { tone: "err" });
      const description = [study.description, ...said].filter(Boolean).join("\n\n");
      change({
        ...comparing(study, values, fields),
        ...(experiment === study.experiment ? {} : { experiment }),
        ...(said.length ? { description } : {}),
      });
      if (said.length) toast(said.join(" "), { tone: "warn", seconds: SAID_S });
    },
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  const why = engineAxis(study)
    ? "The engines are an axis already"
    : study.design?.kind === "optimise"
      ? "An optimisation has no search; choose another design"
      : "";
  return (
    <button
      className="btn"
      data-testid="which-engine"
      disabled={Boolean(why) || ask.isPending}
      title={why || "Compare Storm, Spark and Flink: the load that each sustains, and its latencies at that load and at 90 % of it"}
      onClick={() => ask.mutate()}
    >
      <Icon name="compare" small />
      Which engine?
    </button>
  );
}

const SAID_S = 12;

async function errorsOf(document: Json): Promise<string[]> {
  return (await post<Validation>("/api/validate", { document })).problems.filter(isError).map(({ message }) => message);
}
