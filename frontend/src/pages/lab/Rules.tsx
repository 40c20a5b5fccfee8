import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, put, remove } from "../../api/client";
import { bytes, plural, when } from "../../lib/format";
import { WriteButton } from "../../session/may";
import { Icon } from "../../ui/Icon";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { toast } from "../../ui/toasts";
import { storageQuery, type Removal, type Rule, type Storage } from "./queries";
import { RuleDialog } from "./RuleDialog";
import { sentence, THINGS } from "./rules";

/** Rules by which the lab removes what is old. */
export function Rules({ storage }: { storage: Storage }) {
  const client = useQueryClient();
  const [editing, setEditing] = useState<Rule | "new" | null>(null);
  const failed = (error: Error) => toast(error.message, { tone: "err" });
  const resume = useMutation({
    mutationFn: ({ id, ...rule }: Rule) => put<Storage>(`/api/storage/rules/${id}`, { ...rule, paused: !rule.paused }),
    onSuccess: (now) => client.setQueryData(storageQuery.queryKey, now),
    onError: failed,
  });
  const drop = useMutation({
    mutationFn: ({ id }: Rule) => remove(`/api/storage/rules/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: storageQuery.queryKey }),
    onError: failed,
  });
  return (
    <section className="rules" aria-label="Retention rules">
      <div className="rules-head">
        <h2>Retention rules</h2>
        <WriteButton className="btn small" needs="admin" onClick={() => setEditing("new")}>
          <Icon name="plus" />
          Add a rule
        </WriteButton>
      </div>
      {storage.rules.length === 0 ? (
        <p className="mut small">Without a rule everything is kept. What a rule removes can be restored for a week.</p>
      ) : (
        <table className="table">
          <TableHead columns={["Rule", "State"]} actions />
          <tbody>
            {storage.rules.map((rule) => (
              <tr key={rule.id}>
                <td>{sentence(rule)}</td>
                <td className="mut">{rule.paused ? "paused" : "active"}</td>
                <td className="num">
                  <WriteButton className="btn small" needs="admin" onClick={() => setEditing(rule)}>
                    Edit
                  </WriteButton>{" "}
                  <WriteButton className="btn small" needs="admin" disabled={resume.isPending} onClick={() => resume.mutate(rule)}>
                    {rule.paused ? "Resume" : "Pause"}
                  </WriteButton>{" "}
                  <WriteButton className="btn small" needs="admin" disabled={drop.isPending} onClick={() => drop.mutate(rule)}>
                    Delete
                  </WriteButton>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {editing && <RuleDialog rule={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
    </section>
  );
}

interface Undone extends Storage {
  not_restored: string[];
}

/** What rules have removed, the newest first, with the way back. */
export function Removals({ removals }: { removals: Removal[] }) {
  const client = useQueryClient();
  const undo = useMutation({
    mutationFn: ({ id }: Removal) => post<Undone>(`/api/storage/removals/${id}/undo`, {}),
    onSuccess: ({ not_restored: left, ...now }) => {
      client.setQueryData(storageQuery.queryKey, now);
      void client.invalidateQueries({ queryKey: ["runs"] });
      const but = left.length ? ` Still deleted, since their names are taken: ${left.join(", ")}.` : "";
      toast(`Restored. The rule is paused.${but}`, left.length ? { tone: "err" } : undefined);
    },
    onError: (error) => toast(error.message, { tone: "err" }),
  });
  if (!removals.length) return null;
  return (
    <section className="rules" aria-label="Removed by rules">
      <h2>Removed by rules</h2>
      <table className="table">
        <TableHead columns={["Removed", "What", ofNumbers("Size"), "State"]} actions />
        <tbody>
          {removals.map((removal) => (
            <tr key={removal.id}>
              <td>{when(removal.at)}</td>
              <td>{plural(removal.count, THINGS[removal.what].one, THINGS[removal.what].many)}</td>
              <td className="num">{bytes(removal.bytes)}</td>
              <td className="mut">{stateOf(removal)}</td>
              <td className="num">
                {!removal.undone_at && !removal.final_at && (
                  <WriteButton className="btn small" needs="admin" disabled={undo.isPending} onClick={() => undo.mutate(removal)}>
                    <Icon name="restore" />
                    Undo
                  </WriteButton>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const stateOf = ({ undone_at, final_at, until }: Removal) =>
  undone_at ? `restored ${when(undone_at)}` : final_at ? "final" : `can be restored until ${when(until)}`;
