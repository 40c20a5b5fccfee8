import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client";
import { meQuery } from "../../api/queries";
import type { Scope } from "../../api/types";
import { Dialog } from "../../ui/Dialog";
import { FormDialog } from "../../ui/FormDialog";
import { LifetimeField } from "./LifetimeField";
import { SCOPES, type Token } from "./queries";
import { Secret } from "./Secret";

const LIFETIMES = [
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
  ["", "never"],
] as const;
const NAME_LENGTH_MAX = 100;

/** Name, scope and lifetime of a new token; then the token itself, this once. */
export function IssueDialog({ onClose }: { onClose: () => void }) {
  const { data: me } = useQuery(meQuery);
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("read");
  const [days, setDays] = useState("90");
  const issue = useMutation({
    mutationFn: () =>
      post<Token & { token: string }>("/api/tokens", { name, scope, ...(days ? { expires_in_days: Number(days) } : {}) }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["tokens"] }),
  });
  if (issue.data) return <Issued token={issue.data} onClose={onClose} />;
  const why = name.trim() ? "" : "Enter a name first, so that you know what the token is for.";
  return (
    <FormDialog title="Issue a token" verb="Issue" why={why} busy={issue.isPending} error={issue.error} onSubmit={issue.mutate} onClose={onClose}>
      <div className="field">
        <label htmlFor="token-name">
          Name<i>what it is for</i>
        </label>
        <div className="in">
          <input
            id="token-name"
            data-autofocus
            value={name}
            maxLength={NAME_LENGTH_MAX}
            placeholder="notebook on my laptop"
            onChange={(event) => setName(event.target.value)}
          />
        </div>
      </div>
      <fieldset className="field choices">
        <legend>Scope</legend>
        {(Object.keys(SCOPES) as Scope[]).map((one) => {
          const mine = me?.scopes.includes(one) ?? false;
          return (
            <label key={one} className={mine ? "" : "mut"} title={mine ? "" : `Your role is ${me?.role}; a token cannot do more than you can.`}>
              <input type="radio" name="scope" checked={scope === one} disabled={!mine} onChange={() => setScope(one)} />
              <b>{one}</b>
              <span>{mine ? SCOPES[one] : `not with the role ${me?.role}`}</span>
            </label>
          );
        })}
      </fieldset>
      <LifetimeField id="token-days" choices={LIFETIMES} days={days} onChange={setDays} />
    </FormDialog>
  );
}

function Issued({ token, onClose }: { token: Token & { token: string }; onClose: () => void }) {
  return (
    <Dialog
      title={`“${token.name}” is issued`}
      onClose={onClose}
      footer={
        <button className="btn" onClick={onClose}>
          I have saved it
        </button>
      }
    >
      <p>
        <b>It is shown only once.</b> Millrace keeps only its hash. If you lose it, issue another one.
      </p>
      <Secret label="Token" text={token.token} />
      <p className="mut small">A program sends it with each request:</p>
      <pre className="command">{`curl -H "Authorization: Bearer $TOKEN" \\\n  ${window.location.origin}/api/runs`}</pre>
    </Dialog>
  );
}
