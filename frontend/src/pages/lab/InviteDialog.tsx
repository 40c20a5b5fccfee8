import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api/client";
import type { Role } from "../../api/types";
import { when } from "../../lib/format";
import { Dialog } from "../../ui/Dialog";
import { FormDialog } from "../../ui/FormDialog";
import { Icon } from "../../ui/Icon";
import { LifetimeField } from "./LifetimeField";
import { ROLES, type Invitation } from "./queries";
import { Secret } from "./Secret";

const LIFETIMES = [
  ["1", "in a day"],
  ["7", "in a week"],
  ["30", "in 30 days"],
] as const;

/** Role and lifetime of an invitation; then its link, this once. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [role, setRole] = useState<Role>("member");
  const [days, setDays] = useState("7");
  const invite = useMutation({
    mutationFn: () => post<Invitation & { path: string }>("/api/invitations", { role, expires_in_days: Number(days) }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["invitations"] }),
  });
  if (invite.data)
    return (
      <Dialog
        title="Invitation created"
        onClose={onClose}
        footer={
          <button className="btn" onClick={onClose}>
            I have sent it
          </button>
        }
      >
        <p>
          <b>The link is shown only once.</b> It lets one person in as {invite.data.role}, until {when(invite.data.expires_at)}.
        </p>
        <Secret label="Link" text={window.location.origin + invite.data.path} />
        {isLoopback(window.location.hostname) && (
          <p className="bar-note" role="status">
            <Icon name="warn" />
            <span>
              This address works on this machine only. Open Millrace by the machine&apos;s name in the network, then invite again.
            </span>
          </p>
        )}
      </Dialog>
    );
  return (
    <FormDialog title="Invite someone" verb="Create link" busy={invite.isPending} error={invite.error} onSubmit={invite.mutate} onClose={onClose}>
      <fieldset className="field choices">
        <legend>Role</legend>
        {(Object.keys(ROLES) as Role[]).map((one) => (
          <label key={one}>
            <input type="radio" name="role" data-autofocus={role === one || undefined} checked={role === one} onChange={() => setRole(one)} />
            <b>{one}</b>
            <span>{ROLES[one]}</span>
          </label>
        ))}
      </fieldset>
      <LifetimeField id="invitation-days" choices={LIFETIMES} days={days} onChange={setDays} />
    </FormDialog>
  );
}

/** Whether an address means the machine that asks. */
const isLoopback = (host: string) => host === "localhost" || host === "[::1]" || host.startsWith("127.");
