import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { put } from "../../api/client";
import type { Limits, LimitsAndUsage } from "../../session/limits";
import { limitsQuery } from "../../session/limits";
import { FormDialog } from "../../ui/FormDialog";
import { Failure, Loading } from "../../ui/states";
import { Dialog } from "../../ui/Dialog";
import { toast } from "../../ui/toasts";

const GB = 1e9;

/** What each person of the lab may have at a time. An empty field means no limit. */
export function LimitsDialog({ onClose }: { onClose: () => void }) {
  const { data, error, refetch } = useQuery(limitsQuery);
  if (data) return <Fields limits={data.limits} onClose={onClose} />;
  return (
    <Dialog title="Limits for each person" onClose={onClose}>
      {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading lines={4} />}
    </Dialog>
  );
}

const FIELDS: { name: keyof Limits; label: string; hint: string; unit: string; least: number }[] = [
  { name: "running", label: "Runs in progress", hint: "further ones wait; empty: no limit", unit: "runs", least: 1 },
  { name: "waiting", label: "Runs waiting", hint: "further ones are refused", unit: "runs", least: 1 },
  { name: "stored_bytes", label: "Stored", hint: "runs and data sets together", unit: "GB", least: 0 },
  { name: "requests", label: "Requests", hint: "of pages and programs; at least 60", unit: "a minute", least: 60 },
];

function Fields({ limits, onClose }: { limits: Limits; onClose: () => void }) {
  const client = useQueryClient();
  const [texts, setTexts] = useState(
    () => Object.fromEntries(FIELDS.map(({ name }) => [name, textOf(name, limits[name])])) as Record<keyof Limits, string>,
  );
  const values = Object.fromEntries(FIELDS.map(({ name }) => [name, valueOf(name, texts[name])])) as unknown as Limits;
  const wrong = FIELDS.find(({ name, least }) => values[name] !== null && !(values[name] >= least));
  const save = useMutation({
    mutationFn: () => put<LimitsAndUsage>("/api/limits", values),
    onSuccess: (now) => {
      client.setQueryData(limitsQuery.queryKey, now);
      toast("Limits saved.");
      onClose();
    },
  });
  return (
    <FormDialog
      title="Limits for each person"
      verb="Set"
      why={wrong ? `${wrong.label} must be a number of at least ${wrong.least}, or empty for no limit.` : ""}
      busy={save.isPending}
      error={save.error}
      onSubmit={save.mutate}
      onClose={onClose}
    >
      {FIELDS.map(({ name, label, hint, unit }, n) => (
        <div className="field" key={name}>
          <label htmlFor={`limit-${name}`}>
            {label}
            <i>{hint}</i>
          </label>
          <div className="in">
            <input
              id={`limit-${name}`}
              data-autofocus={n === 0 || undefined}
              inputMode="decimal"
              value={texts[name]}
              placeholder="no limit"
              onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
            />
            <span className="unit">{unit}</span>
          </div>
        </div>
      ))}
      <p className="mut small">They apply to every person alike. Free workers serve people in turn, with or without limits.</p>
    </FormDialog>
  );
}

const textOf = (name: keyof Limits, value: number | null) => (value === null ? "" : String(name === "stored_bytes" ? value / GB : value));

/** NaN if it is no number that can be sent. */
function valueOf(name: keyof Limits, text: string): number | null {
  if (!text.trim()) return null;
  const value = Number(text);
  if (name === "stored_bytes") return Math.round(value * GB);
  return Number.isInteger(value) ? value : NaN;
}
