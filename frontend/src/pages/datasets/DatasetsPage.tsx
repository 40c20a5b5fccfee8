import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { datasetsQuery, datasetUsesQuery } from "../../api/queries";
import type { Dataset } from "../../api/types";
import { bytes, plural, when } from "../../lib/format";
import { useUrlState } from "../../lib/useUrlState";
import { DeleteButton, WriteButton } from "../../session/may";
import { useDeletion } from "../../session/useDeletion";
import { Count } from "../../ui/Count";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { ListPanel } from "../../ui/ListPanel";
import { SearchField } from "../../ui/SearchField";
import { Empty } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { TopBar } from "../../ui/TopBar";
import { ColumnTable } from "../../ui/upload/ColumnTable";
import { ReadingSummary } from "../../ui/upload/ReadingSummary";
import { UploadDataDialog } from "../../ui/upload/UploadDataDialog";

/** The lab's data sets: look into, upload, delete. */
export function DatasetsPage() {
  const [url, change] = useUrlState(["search", "open"]);
  const { data, error, refetch } = useQuery(datasetsQuery);
  const { data: uses = {} } = useQuery(datasetUsesQuery);
  const erase = useDeletion("datasets");
  const [uploading, setUploading] = useState(false);
  const drop = ({ id, name }: Dataset) => {
    const count = uses[name] ?? 0;
    return erase(id, `${name} deleted${count ? `; ${plural(count, "experiment")} cannot run without it` : ""}.`);
  };
  const word = url.search.trim().toLowerCase();
  const speaksOf = (one: Dataset) => `${one.name} ${columnsOf(one)}`.toLowerCase().includes(word);
  const rows = (data ?? []).filter(speaksOf);
  const open = data?.find((one) => one.id === url.open);
  return (
    <div className="page">
      <TopBar
        title="Data sets"
        crumb={<h1>Data sets</h1>}
        actions={
          <WriteButton className="btn primary" data-testid="upload-dataset" onClick={() => setUploading(true)}>
            <Icon name="upload" />
            Upload a file
          </WriteButton>
        }
      />
      <div className="list-page">
        <div className="toolbar">
          <SearchField
            label="Search data sets"
            hint="Search by name or column"
            value={url.search}
            onChange={(search) => change({ search }, true)}
          />
          <span className="mut small">A source replays a data set; rates and delays can also be read from one.</span>
          <span className="grow" />
          <Count of={data && rows.length} one="data set" />
        </div>
        <ListPanel label="Data sets" error={error} loading={!data} retry={refetch}>
          {!rows.length ? (
            <Empty
              icon="upload"
              title={word ? `No data set matches “${url.search}”` : "No data set yet"}
              action={
                word ? (
                  <button className="btn" onClick={() => change({ search: "" })}>
                    Show all
                  </button>
                ) : (
                  <WriteButton className="btn primary" onClick={() => setUploading(true)}>
                    <Icon name="upload" />
                    Upload a file
                  </WriteButton>
                )
              }
            >
              {word ? "" : "Your own records, as CSV or Parquet, become a source like any other."}
            </Empty>
          ) : (
            <table className="table experiments">
              <TableHead columns={["Name", ofNumbers("Rows"), ofNumbers("Size"), ofNumbers("Experiments"), "Added"]} actions />
              <tbody>
                {rows.map((one) => (
                  <tr key={one.id} data-testid={`dataset-${one.name}`}>
                    <td>
                      <button className="link" title={one.name} onClick={() => change({ open: one.id })}>
                        <b>{one.name}</b>
                      </button>
                      <p title={columnsOf(one)}>{columnsOf(one)}</p>
                    </td>
                    <td className="num">{one.rows.toLocaleString("en-US")}</td>
                    <td className="num">{bytes(one.bytes)}</td>
                    <td className="num">{uses[one.name] ?? <span className="mut">0</span>}</td>
                    <td className="mut">{when(one.created_at)}</td>
                    <td className="num">
                      <span className="row-actions">
                        <DeleteButton what={one.name} onClick={() => drop(one)} />
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </ListPanel>
      </div>
      {open && (
        <Dialog title={open.name} wide onClose={() => change({ open: "" })}>
          <ColumnTable dataset={open} />
          <ReadingSummary dataset={open} />
        </Dialog>
      )}
      {uploading && <UploadDataDialog onClose={() => setUploading(false)} />}
    </div>
  );
}

const columnsOf = ({ columns }: Dataset) => columns.map((column) => `${column.name} ${column.type}`).join(", ");
