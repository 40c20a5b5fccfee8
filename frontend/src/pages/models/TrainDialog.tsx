import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useNavigate } from "react-router";
import { post } from "../../api/client";
import { takeLearningJob } from "../../api/news";
import type { Corpus, LearningJob } from "../../api/types";
import { FormDialog } from "../../ui/FormDialog";
import { Icon } from "../../ui/Icon";
import { NumberInput, useUnreadInDialog } from "../../ui/NumberInput";
import { toast } from "../../ui/toasts";
import { NAME } from "./names";

type Sizes = { hidden: number | undefined; members: number | undefined; epochs: number | undefined; batch: number | undefined };
const FIELDS: { name: keyof Sizes; label: string; least: number; most: number; about: string }[] = [
  { name: "hidden", label: "Width of the network", least: 4, most: 1024, about: "the paper has 128" },
  { name: "members", label: "Models of each cost", least: 1, most: 25, about: "they differ in their seed, and vote" },
  { name: "batch", label: "Batch size", least: 1, most: 4096, about: "graphs of a step; the paper has 128, for ten times as many traces" },
  { name: "epochs", label: "Epochs at most", least: 1, most: 10_000, about: "training ends when validation stops improving" },
];

/** Models of all five costs, on a corpus that is whole. */
export function TrainDialog({ corpora, first, onClose }: { corpora: readonly Corpus[]; first: string; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [corpus, setCorpus] = useState(corpora.find(({ name }) => name === first)?.name ?? corpora[0]?.name ?? "");
  const [own, setName] = useState<string | null>(null);
  const name = own ?? corpus;
  const [sizes, setSizes] = useState<Sizes>({ hidden: 32, members: 3, epochs: 80, batch: 32 });
  const [logarithmic, setLogarithmic] = useState(true);
  const unread = useUnreadInDialog();
  const id = useId();
  const train = useMutation({
    mutationFn: () => post<LearningJob>("/api/learning/models", { name, corpus, logarithmic, ...sizes }),
    onSuccess: (job) => {
      if (job.note) toast(job.note, { tone: "warn", seconds: 12 });
      takeLearningJob(client, job);
      onClose();
      void navigate("/models");
    },
  });
  const empty = FIELDS.find(({ name }) => sizes[name] === undefined);
  const why = unread || (!NAME.test(name) ? "The name has lower-case letters, digits, _ and -." : empty ? `${empty.label}: give a number.` : "");
  return (
    <FormDialog
      title="Train models"
      verb="Train"
      why={why}
      busy={train.isPending}
      error={train.error}
      onSubmit={() => train.mutate()}
      onClose={onClose}
      testId="start-training"
    >
      <p className="mut small">A worker trains them. Models that are done are kept when you cancel; the same form goes on with the rest.</p>
      <div className="field">
        <label htmlFor={`${id}-corpus`}>Corpus</label>
        <div className="in">
          <select id={`${id}-corpus`} value={corpus} onChange={({ target }) => setCorpus(target.value)}>
            {corpora.map(({ name, traces }) => (
              <option key={name} value={name}>
                {name}, {traces.toLocaleString("en-US")} traces
              </option>
            ))}
          </select>
          <Icon name="down" />
        </div>
      </div>
      <div className="field">
        <label htmlFor={`${id}-name`}>Name of the models</label>
        <div className="in">
          <input id={`${id}-name`} value={name} maxLength={63} onChange={({ target }) => setName(target.value)} />
        </div>
      </div>
      {FIELDS.map(({ name, label, least, most, about }) => (
        <div key={name} className="field">
          <label htmlFor={`${id}-${name}`}>
            {label}
            <i>{about}</i>
          </label>
          <NumberInput
            id={`${id}-${name}`}
            label={label}
            value={sizes[name]}
            least={least}
            most={most}
            onChange={(value) => setSizes((before) => ({ ...before, [name]: value }))}
          />
        </div>
      ))}
      <label className="check">
        <input type="checkbox" checked={logarithmic} onChange={({ target }) => setLogarithmic(target.checked)} />
        Scale logarithms of rates, sizes and features of hosts
      </label>
    </FormDialog>
  );
}
