import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { when } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { useRefusal } from "../../session/who";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { ListPanel } from "../../ui/ListPanel";
import { Pager } from "../../ui/Pager";
import { Empty } from "../../ui/states";
import { TableHead } from "../../ui/TableHead";
import { inWords, linkOf } from "./audit";
import { auditQuery, ENTRIES_PER_PAGE, peopleQuery } from "./queries";

const KINDS = [
  ["", "Everything"],
  ["runs", "Runs"],
  ["experiments", "Experiments"],
  ["people", "People"],
  ["tokens", "Tokens"],
  ["session", "Sign-ins"],
] as const;

/** Who did what, and when; for owners. What is searched for stands in the address. */
export function AuditTab() {
  const refusal = useRefusal("admin");
  const [url, change] = useUrlState(["person", "action", "offset"]);
  const offset = Number(url.offset) || 0;
  const { data, error, refetch, isPlaceholderData } = useQuery(auditQuery({ ...url, offset }, refusal === null));
  const { data: people = [] } = useQuery(peopleQuery);
  if (refusal !== null)
    return (
      <section className="panel" aria-label="Audit">
        <Empty icon="lock" title="The log is for owners">
          {refusal}
        </Empty>
      </section>
    );
  const count = data?.count ?? 0;
  const entries = data?.items ?? [];
  const filter = (changes: Partial<typeof url>) => change({ offset: "", ...changes });
  return (
    <>
      <div className="toolbar">
        <div className="seg" role="radiogroup" aria-label="What">
          {KINDS.map(([kind, label]) => (
            <label key={kind}>
              <input type="radio" name="kind" checked={url.action === kind} onChange={() => filter({ action: kind })} />
              {label}
            </label>
          ))}
        </div>
        <label className="in who">
          <select aria-label="Person" value={url.person} onChange={(event) => filter({ person: event.target.value })}>
            <option value="">Everyone</option>
            {!people.some(({ name }) => name === url.person) && url.person && <option>{url.person}</option>}
            {people.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <Icon name="down" />
        </label>
        <span className="grow" />
        <Count of={data && count} one="entry" many="entries" />
      </div>
      <ListPanel label="Audit" error={error} loading={!data} retry={refetch} stale={isPlaceholderData}>
        {!entries.length ? (
          <Empty icon="book" title="No such actions yet">
            Everything created, changed, run, cancelled or deleted appears here, with the person.
          </Empty>
        ) : (
          <table className="table">
            <TableHead columns={["When", "Who", "Action", "Target", "Details"]} />
            <tbody>
              {entries.map((entry) => {
                const to = linkOf(entry);
                return (
                  <tr key={entry.id}>
                    <td className="mut" title={new Date(entry.at).toISOString()}>
                      {when(entry.at)}
                    </td>
                    <td>
                      {entry.person}
                      {entry.token && <span className="mut"> with the token “{entry.token}”</span>}
                    </td>
                    <td>{inWords(entry.action)}</td>
                    <td className="subject-cell">
                      {to ? (
                        <Link className="ell" to={to} title={entry.subject}>
                          {entry.subject}
                        </Link>
                      ) : (
                        <span className="ell">{entry.subject}</span>
                      )}
                    </td>
                    <td className="mut">{entry.detail}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
      </ListPanel>
      <Pager offset={offset} size={ENTRIES_PER_PAGE} count={count} onOffset={(next) => change({ offset: next })} />
    </>
  );
}
