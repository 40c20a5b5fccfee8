import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, put, remove } from "../../api/client";
import type { Role } from "../../api/types";
import { when } from "../../lib/format";
import { WriteButton } from "../../session/may";
import { useRefusal } from "../../session/who";
import { Count } from "../../ui/Count";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { ListPanel } from "../../ui/ListPanel";
import { TableHead } from "../../ui/TableHead";
import { toast } from "../../ui/toasts";
import { Confirm } from "./Confirm";
import { InviteDialog } from "./InviteDialog";
import { LimitsDialog } from "./LimitsDialog";
import { invitationsQuery, peopleQuery, ROLES, type Person } from "./queries";
import { Secret } from "./Secret";

/** Who belongs to the lab, in which role, and who is invited. Everybody sees it, owners change it. */
export function PeopleTab() {
  const { data, error, refetch } = useQuery(peopleQuery);
  const [inviting, setInviting] = useState(false);
  const [limiting, setLimiting] = useState(false);
  const [removing, setRemoving] = useState<Person | null>(null);
  const client = useQueryClient();
  const settled = () => Promise.all(["people", "me"].map((name) => client.invalidateQueries({ queryKey: [name] })));
  const failed = (problem: Error) => toast(problem.message, { tone: "err" });
  const change = useMutation({
    mutationFn: ({ person, role }: { person: Person; role: Role }) => put(`/api/people/${person.id}`, { role }),
    onSuccess: (_, { person, role }) => toast(`${person.name} is ${role === "owner" ? "an owner" : `a ${role}`} now.`),
    onError: failed,
    onSettled: settled,
  });
  const drop = useMutation({
    mutationFn: (person: Person) => remove(`/api/people/${person.id}`),
    onSuccess: (_, person) => toast(`${person.name} removed; what they created is kept.`),
    onError: failed,
    onSettled: settled,
  });
  const link = useMutation({
    mutationFn: (person: Person) => post<{ path: string }>(`/api/people/${person.id}/link`),
    onError: failed,
  });
  const people = data ?? [];
  const owners = people.filter((person) => person.role === "owner").length;
  const lastOwner = (person: Person) =>
    person.role === "owner" && owners === 1 ? "A lab needs an owner: make someone else an owner first" : "";
  return (
    <>
      <div className="toolbar">
        <WriteButton needs="admin" className="btn primary" title="Create a link that lets one person join" onClick={() => setInviting(true)}>
          <Icon name="plus" />
          Invite
        </WriteButton>
        <WriteButton needs="admin" className="btn" onClick={() => setLimiting(true)}>
          <Icon name="store" />
          Limits for each person
        </WriteButton>
        <span className="grow" />
        <Count of={data?.length} one="person" many="people" />
      </div>
      <ListPanel label="People" error={error} loading={!data} retry={refetch}>
        <table className="table">
          <TableHead columns={["Name", "Role", "Joined", "Last signed in"]} actions />
          <tbody>
            {people.map((person) => (
              <tr key={person.id}>
                <td className="name-cell">
                  <b>{person.name}</b>
                  {person.you && <span className="mut"> you</span>}
                </td>
                <td>
                  <RoleChoice
                    person={person}
                    why={lastOwner(person)}
                    busy={change.isPending}
                    onChange={(role) => change.mutate({ person, role })}
                  />
                </td>
                <td className="mut">{when(person.joined_at)}</td>
                <td className="mut">{person.signed_in_at ? when(person.signed_in_at) : "never"}</td>
                <td className="num">
                  <span className="row-actions">
                    <WriteButton
                      needs="admin"
                      className="btn ghost"
                      aria-label={`Sign-in link for ${person.name}`}
                      title="Create a link that signs them in once, in case they forgot their password"
                      disabled={link.isPending}
                      onClick={() => link.mutate(person)}
                    >
                      Sign-in link
                    </WriteButton>
                    <WriteButton
                      needs="admin"
                      className="btn ghost danger"
                      aria-label={`Remove ${person.name}`}
                      disabled={Boolean(lastOwner(person)) || drop.isPending}
                      title={lastOwner(person) || "Remove from the lab; what they created is kept"}
                      onClick={() => setRemoving(person)}
                    >
                      Remove
                    </WriteButton>
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ListPanel>
      <Invitations />
      {limiting && <LimitsDialog onClose={() => setLimiting(false)} />}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
      {link.data && (
        <Dialog title={`A link for ${link.variables.name}`} onClose={() => link.reset()}>
          <p>
            <b>It signs {link.variables.name} in, once, within an hour.</b> Share it with no one else: anyone who opens it acts as them.
          </p>
          <Secret label="Link" text={window.location.origin + link.data.path} />
        </Dialog>
      )}
      {removing && (
        <Confirm title={`Remove ${removing.name}?`} does="Remove" onClose={() => setRemoving(null)} onYes={() => drop.mutate(removing)}>
          {removing.name} will lose access to the lab, and their tokens are revoked. What they created is kept. They can be invited again.
        </Confirm>
      )}
    </>
  );
}

function RoleChoice({ person, why, busy, onChange }: { person: Person; why: string; busy: boolean; onChange: (role: Role) => void }) {
  const refusal = useRefusal("admin") ?? why;
  return (
    <label className={`in role ${refusal ? "off" : ""}`} title={refusal || ROLES[person.role]}>
      <select
        aria-label={`Role of ${person.name}`}
        value={person.role}
        disabled={Boolean(refusal) || busy}
        onChange={(event) => onChange(event.target.value as Role)}
      >
        {(Object.keys(ROLES) as Role[]).map((role) => (
          <option key={role}>{role}</option>
        ))}
      </select>
      <Icon name="down" />
    </label>
  );
}

/** Those not used yet; only owners see them. */
function Invitations() {
  const owner = useRefusal("admin") === null;
  const { data } = useQuery(invitationsQuery(owner));
  const client = useQueryClient();
  const withdraw = useMutation({
    mutationFn: (id: number) => remove(`/api/invitations/${id}`),
    onSuccess: () => toast("Invitation withdrawn."),
    onError: (problem) => toast(problem.message, { tone: "err" }),
    onSettled: () => client.invalidateQueries({ queryKey: ["invitations"] }),
  });
  if (!owner || !data?.length) return null;
  return (
    <section className="panel" aria-label="Invitations">
      <div className="ph">
        <h2>Invitations</h2>
        <span className="mut">not used yet</span>
      </div>
      <div className="scroll" tabIndex={0}>
        <table className="table">
          <TableHead columns={["Role", "Invited by", "Created", "Expires"]} actions />
          <tbody>
            {data.map((one) => (
              <tr key={one.id}>
                <td>{one.role}</td>
                <td>{one.invited_by ?? <span className="mut">–</span>}</td>
                <td className="mut">{when(one.created_at)}</td>
                <td className="mut">{when(one.expires_at)}</td>
                <td className="num">
                  <button
                    className="btn ghost danger"
                    disabled={withdraw.isPending}
                    title="The link stops working"
                    onClick={() => withdraw.mutate(one.id)}
                  >
                    Withdraw
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
