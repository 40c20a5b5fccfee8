import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { remove } from "../../api/client";
import { when } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { ListPanel } from "../../ui/ListPanel";
import { Empty } from "../../ui/states";
import { TableHead } from "../../ui/TableHead";
import { toast } from "../../ui/toasts";
import { Confirm } from "./Confirm";
import { IssueDialog } from "./IssueDialog";
import { SCOPES, tokensQuery, type Token } from "./queries";

/** Tokens of programs. Those that have ended are kept, and shown when asked for. */
export function TokensTab() {
  const { data, error, refetch } = useQuery(tokensQuery);
  const [url, change] = useUrlState(["show"]);
  const [issuing, setIssuing] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: (token: Token) => remove(`/api/tokens/${token.id}`),
    onSuccess: (_, token) => toast(`“${token.name}” revoked.`),
    onError: (problem) => toast(problem.message, { tone: "err" }),
    onSettled: () => client.invalidateQueries({ queryKey: ["tokens"] }),
  });
  const rows = (data ?? []).filter((token) => url.show === "all" || token.state === "active");
  const ended = (data ?? []).filter((token) => token.state !== "active").length;
  const others = rows.some((token) => !token.yours);
  return (
    <>
      <div className="toolbar">
        <button className="btn primary" onClick={() => setIssuing(true)}>
          <Icon name="plus" />
          Issue a token
        </button>
        <span className="mut small">A program with a token acts as you, within the scope of the token and your role.</span>
        <span className="grow" />
        {(ended > 0 || url.show === "all") && (
          <label className="check">
            <input type="checkbox" checked={url.show === "all"} onChange={(event) => change({ show: event.target.checked ? "all" : "" })} />
            Show {ended} ended
          </label>
        )}
        <Count of={data && rows.length} one="token" />
      </div>
      <ListPanel label="Tokens" error={error} loading={!data} retry={refetch}>
        {!rows.length ? (
          <Empty icon="lock" title="No active tokens">
            Notebooks, scripts and Prometheus need one. Issue it here and store it where the program can read it.
          </Empty>
        ) : (
          <table className="table">
            <TableHead columns={["Name", others && "Person", "Scope", "State", "Issued", "Last used", "Expires"]} actions />
            <tbody>
              {rows.map((token) => (
                <tr key={token.id}>
                  <td className="name-cell">
                    <b className="ell" title={token.name}>
                      {token.name}
                    </b>
                  </td>
                  {others && <td>{token.person}</td>}
                  <td title={SCOPES[token.scope]}>{token.scope}</td>
                  <td>
                    <State token={token} />
                  </td>
                  <td className="mut">{when(token.created_at)}</td>
                  <td className="mut">{token.last_used_at ? when(token.last_used_at) : "never"}</td>
                  <td className="mut">{token.expires_at ? when(token.expires_at) : "never"}</td>
                  <td className="num">
                    <button
                      className="btn ghost danger"
                      aria-label={`Revoke ${token.name}`}
                      disabled={token.state !== "active" || revoke.isPending}
                      title={token.state === "active" ? "Programs that use it are refused immediately" : `It is ${token.state} already`}
                      onClick={() => setRevoking(token)}
                    >
                      Revoke
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </ListPanel>
      {issuing && <IssueDialog onClose={() => setIssuing(false)} />}
      {revoking && (
        <Confirm title={`Revoke “${revoking.name}”?`} does="Revoke" onClose={() => setRevoking(null)} onYes={() => revoke.mutate(revoking)}>
          Programs that use it are refused immediately, and their open connections end within seconds. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

function State({ token }: { token: Token }) {
  if (token.state === "active")
    return (
      <span className="badge ok">
        <Icon name="check" small />
        Active
      </span>
    );
  const revoked = token.state === "revoked";
  return (
    <span className="badge" title={revoked && token.revoked_at ? when(token.revoked_at) : ""}>
      <Icon name={revoked ? "cross" : "clock"} small />
      {revoked ? "Revoked" : "Expired"}
    </span>
  );
}
