import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, put } from "../../api/client";
import { bytes, plural, when } from "../../lib/format";
import { useSettled } from "../../lib/useSettled";
import { FormDialog } from "../../ui/FormDialog";
import { toast } from "../../ui/toasts";
import { storageQuery, type Preview, type Rule, type RuleBody, type Storage } from "./queries";
import { ruleOf, THINGS } from "./rules";

/** A new rule, or one to be changed, with what it would remove now. */
export function RuleDialog({ rule, onClose }: { rule: Rule | null; onClose: () => void }) {
  const client = useQueryClient();
  const [what, setWhat] = useState<Rule["what"]>(rule?.what ?? "frames");
  const [by, setBy] = useState<"days" | "bytes">(rule && rule.days === null ? "bytes" : "days");
  const [amount, setAmount] = useState(rule ? String(rule.days ?? (rule.bytes ?? 0) / 1e9) : "");
  const [tags, setTags] = useState(rule?.kept_tags?.join(", ") ?? "");
  const made = ruleOf(what, by, amount, tags);
  const save = useMutation({
    mutationFn: () =>
      rule
        ? put<Storage>(`/api/storage/rules/${rule.id}`, { ...(made as RuleBody), paused: rule.paused })
        : post<Storage>("/api/storage/rules", made as RuleBody),
    onSuccess: (now) => {
      client.setQueryData(storageQuery.queryKey, now);
      toast("Rule saved. It applies within ten minutes.");
      onClose();
    },
  });
  return (
    <FormDialog
      title={rule ? "Retention rule" : "New retention rule"}
      verb={rule ? "Save" : "Add"}
      why={typeof made === "string" ? made : ""}
      busy={save.isPending}
      error={save.error}
      onSubmit={save.mutate}
      onClose={onClose}
    >
      <div className="field">
        <label htmlFor="rule-what">Remove</label>
        <div className="in">
          <select id="rule-what" data-autofocus value={what} onChange={(event) => setWhat(event.target.value as Rule["what"])}>
            <option value="frames">frames of runs; results stay</option>
            <option value="runs">runs that are in no study</option>
            <option value="datasets">data sets that no experiment uses</option>
          </select>
        </div>
      </div>
      <div className="field">
        <label htmlFor="rule-by">When</label>
        <div className="in">
          <select id="rule-by" value={by} onChange={(event) => setBy(event.target.value as "days" | "bytes")}>
            <option value="days">older than</option>
            <option value="bytes">oldest first, while all take more than</option>
          </select>
          <input id="rule-amount" aria-label="Amount" inputMode="decimal" value={amount} onChange={(event) => setAmount(event.target.value)} />
          <span className="unit">{by === "days" ? "days" : "GB"}</span>
        </div>
      </div>
      {what !== "datasets" && (
        <div className="field">
          <label htmlFor="rule-tags">
            Keep runs with the tags<i>separated by commas; empty: any tag</i>
          </label>
          <div className="in">
            <input id="rule-tags" value={tags} placeholder="any tag" onChange={(event) => setTags(event.target.value)} />
          </div>
        </div>
      )}
      <WouldGo rule={made} />
    </FormDialog>
  );
}

function WouldGo({ rule }: { rule: RuleBody | string }) {
  const settled = useSettled(rule);
  const { data, error, isFetching } = useQuery({
    queryKey: ["storage", "preview", settled],
    queryFn: () => post<Preview>("/api/storage/rules/preview", settled as RuleBody),
    enabled: typeof settled !== "string",
    staleTime: 0,
  });
  if (typeof rule === "string") return <p className="mut small">{rule}</p>;
  if (error) return <p className="over">{error.message}</p>;
  if (!data || isFetching) return <p className="mut small">Looking for what it would remove …</p>;
  const oldest = data.first[0];
  const many = THINGS[rule.what];
  return (
    <div className="small" role="status">
      <p>
        <b>Now it would remove {data.count ? plural(data.count, many.one, many.many) : "nothing"}</b>
        {data.count ? `, ${bytes(data.bytes)} together` : ""}.{" "}
        {data.kept ? `${plural(data.kept, "older one stays", "older ones stay")}: tagged, noted, or in use. ` : ""}What it removes can be restored for a week.
      </p>
      {oldest && (
        <ul className="mut">
          {data.first.map((one) => (
            <li key={one.id}>
              {one.number === null ? one.name : `#${one.number} ${one.name}`}, {when(one.at)}, {bytes(one.bytes)}
            </li>
          ))}
          {data.count > data.first.length && <li>and {data.count - data.first.length} more</li>}
        </ul>
      )}
    </div>
  );
}
