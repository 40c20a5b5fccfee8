import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { get } from "../../api/client";
import { experimentsQuery } from "../../api/queries";
import type { ExperimentRecord, ExperimentRow } from "../../api/types";
import { when } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { coerceDocument } from "../../model/document/coerce";
import { emptyDocument } from "../../model/document/document";
import { DeleteButton, WriteButton } from "../../session/may";
import { useCreate } from "../../session/useCreate";
import { useDeletion } from "../../session/useDeletion";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { ListPanel } from "../../ui/ListPanel";
import { SearchField } from "../../ui/SearchField";
import { Empty } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { TopBar } from "../../ui/TopBar";

const SHOWN = [
  ["", "In use"],
  ["examples", "Examples"],
  ["all", "All"],
] as const;

/** The lab's experiments: open, new, duplicate, delete. Examples that nobody has touched stand apart. */
export function ExperimentsPage() {
  const [url, change] = useUrlState(["search", "show"]);
  const { data, error, refetch } = useQuery(experimentsQuery);
  const erase = useDeletion("experiments");
  const create = useCreate();
  const duplicate = async (row: ExperimentRow) => {
    const record = await get<ExperimentRecord>(`/api/experiments/${row.id}`);
    create.mutate({ ...coerceDocument(record.document), name: `${row.name}, copy` });
  };
  const drop = (row: ExperimentRow) => erase(row.id, `${row.name} deleted${row.runs ? "; its runs are kept" : ""}.`);
  const word = url.search.trim().toLowerCase();
  const kept = (row: ExperimentRow) => url.show === "all" || row.example === (url.show === "examples");
  const rows = (data ?? []).filter((row) => kept(row) && (!word || `${row.name} ${row.description}`.toLowerCase().includes(word)));
  return (
    <div className="page">
      <TopBar
        title="Experiments"
        crumb={<h1>Experiments</h1>}
        actions={
          <WriteButton className="btn primary" data-testid="new-experiment" onClick={() => create.mutate(emptyDocument())}>
            <Icon name="plus" />
            New experiment
          </WriteButton>
        }
      />
      <div className="list-page">
        <div className="toolbar">
          <SearchField
            label="Search experiments"
            hint="Search by name or description"
            value={url.search}
            onChange={(search) => change({ search }, true)}
          />
          <div className="seg" role="radiogroup" aria-label="Which experiments">
            {SHOWN.map(([value, label]) => (
              <label key={value}>
                <input type="radio" name="show" checked={url.show === value} onChange={() => change({ show: value })} />
                {label}
              </label>
            ))}
          </div>
          <span className="grow" />
          <Count of={data && rows.length} one="experiment" />
        </div>
        <ListPanel label="Experiments" error={error} loading={!data} retry={refetch}>
          {!rows.length ? (
            <Empty
              icon="canvas"
              title={word ? `No experiment matches “${url.search}”` : "No experiments yet"}
              action={
                word ? (
                  <button className="btn" onClick={() => change({ search: "", show: "all" })}>
                    Show all
                  </button>
                ) : (
                  <Link className="btn primary" to="/templates">
                    <Icon name="gallery" />
                    Open a template
                  </Link>
                )
              }
            >
              {word ? "" : "A template is a query with hardware, workload and policies, ready to run; you get a copy that you can change."}
            </Empty>
          ) : (
            <table className="table experiments">
              <TableHead columns={["Name", ofNumbers("Runs"), "Changed"]} actions />
              <tbody>
                {rows.map((row) => (
                  <tr key={row.id}>
                    <td>
                      <Link to={`/experiments/${row.id}`} title={row.name}>
                        <b>{row.name || "Untitled"}</b>
                      </Link>
                      {row.description && <p title={row.description}>{row.description}</p>}
                    </td>
                    <td className="num">
                      {row.runs ? <Link to={`/runs?experiment=${row.id}`}>{row.runs}</Link> : <span className="mut">0</span>}
                    </td>
                    <td className="mut">{when(row.updated_at)}</td>
                    <td className="num">
                      <span className="row-actions">
                        <WriteButton
                          className="btn ghost icon"
                          title="Duplicate"
                          aria-label={`Duplicate ${row.name}`}
                          onClick={() => void duplicate(row)}
                        >
                          <Icon name="copy" />
                        </WriteButton>
                        <DeleteButton what={row.name} onClick={() => drop(row)} />
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </ListPanel>
      </div>
    </div>
  );
}
