import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { post } from "../../api/client";
import { takeLearningJob } from "../../api/news";
import type { Corpus, LearningJob } from "../../api/types";
import { FormDialog } from "../../ui/FormDialog";
import { NumberInput, useUnreadInDialog } from "../../ui/NumberInput";
import { toast } from "../../ui/toasts";
import { freeName, NAME } from "./names";

const TRACES = { least: 100, most: 1_000_000 };
const CPU_S_PER_TRACE = 0.3;

/** Random queries on random hosts, to be measured. */
export function CorpusDialog({ taken, onClose }: { taken: readonly Corpus[]; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(() => freeName("corpus", taken));
  const [traces, setTraces] = useState<number | undefined>(4000);
  const [seed, setSeed] = useState<number | undefined>(1);
  const unread = useUnreadInDialog();
  const ids = { name: useId(), traces: useId(), seed: useId() };
  const make = useMutation({
    mutationFn: () => post<LearningJob>("/api/learning/corpora", { name, traces, seed }),
    onSuccess: (job) => {
      if (job.note) toast(job.note, { tone: "warn", seconds: 12 });
      takeLearningJob(client, job);
      onClose();
    },
  });
  const why =
    unread ||
    (!NAME.test(name) ? "The name has lower-case letters, digits, _ and -." : traces === undefined ? "Give a number of traces." : seed === undefined ? "Give a seed." : "");
  const minutes = Math.max(1, Math.round(((traces ?? 0) * CPU_S_PER_TRACE) / 60));
  return (
    <FormDialog
      title="New corpus"
      verb="Measure"
      why={why}
      busy={make.isPending}
      error={make.error}
      onSubmit={() => make.mutate()}
      onClose={onClose}
      testId="make-corpus"
    >
      <p className="mut small">
        Each trace is a random query on random hosts, run once. A worker measures them, about {minutes.toLocaleString("en-US")}{" "}
        {minutes === 1 ? "minute" : "minutes"} of one core. What is measured is kept when you cancel.
      </p>
      <div className="field">
        <label htmlFor={ids.name}>Name</label>
        <div className="in">
          <input id={ids.name} value={name} maxLength={63} onChange={({ target }) => setName(target.value)} />
        </div>
      </div>
      <div className="field">
        <label htmlFor={ids.traces}>Traces</label>
        <NumberInput id={ids.traces} label="Traces" value={traces} {...TRACES} onChange={setTraces} />
      </div>
      <div className="field">
        <label htmlFor={ids.seed}>Seed</label>
        <NumberInput id={ids.seed} label="Seed" value={seed} least={0} most={2 ** 31 - 1} onChange={setSeed} />
      </div>
    </FormDialog>
  );
}
