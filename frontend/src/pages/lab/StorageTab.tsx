import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { bytes, percent } from "../../lib/format";
import { WriteButton } from "../../session/may";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading } from "../../ui/states";
import { ofNumbers, TableHead } from "../../ui/TableHead";
import { storageQuery, type Large, type Storage } from "./queries";
import { Removals, Rules } from "./Rules";
import { StorageDialog } from "./StorageDialog";

/** What the lab keeps on disk, what is largest, and how much it may be. */
export function StorageTab() {
  const { data, error, refetch } = useQuery(storageQuery);
  const [changing, setChanging] = useState(false);
  return (
    <>
      <div className="toolbar">
        <WriteButton className="btn primary" needs="admin" disabled={!data} onClick={() => setChanging(true)}>
          <Icon name="store" />
          Change the limit
        </WriteButton>
        {data && <span className="mut small">{limitOf(data)}</span>}
      </div>
      <section className="panel" aria-label="Storage">
        <div className="scroll" tabIndex={0}>
          {error ? (
            <Failure error={error} retry={() => void refetch()} />
          ) : !data ? (
            <Loading />
          ) : (
            <>
              <Use storage={data} />
              <Rules storage={data} />
              <Removals removals={data.removals} />
              <Holdings storage={data} />
            </>
          )}
        </div>
      </section>
      {changing && data && <StorageDialog storage={data} onClose={() => setChanging(false)} />}
    </>
  );
}

const limitOf = ({ limit_bytes }: Storage) => (limit_bytes === null ? "There is no limit." : `At ${bytes(limit_bytes)} nothing new can start.`);

function Use({ storage }: { storage: Storage }) {
  const { limit_bytes: limit, used_bytes: used } = storage;
  const share = limit === null ? null : limit === 0 ? 1 : used / limit;
  const full = share !== null && share >= 1;
  return (
    <div className="use">
      <p>
        <b>{bytes(used)}</b> {limit === null ? "used" : `of ${bytes(limit)} used, ${percent(share ?? 0)}`}
      </p>
      {share !== null && (
        <div
          className={`gauge ${full ? "full" : ""}`}
          role="meter"
          aria-label="Share of the limit"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.min(100, Math.round(share * 100))}
        >
          <i style={{ width: `${Math.min(100, share * 100)}%` }} />
        </div>
      )}
      {full && (
        <p className="over" role="alert">
          <Icon name="warn" small />
          The limit is reached: no run, study or upload can start until something below is deleted or an owner raises the limit.
        </p>
      )}
      <p className="mut small">
        Runs {bytes(storage.runs_bytes)}, data sets {bytes(storage.datasets_bytes)}, versions of experiments {bytes(storage.versions_bytes)}. Deleted, freed within a week:{" "}
        {bytes(storage.deleted_bytes)}. Free on the server’s disk: {bytes(storage.free_bytes)}.
      </p>
    </div>
  );
}

function Holdings({ storage }: { storage: Storage }) {
  const rows = [...storage.experiments, ...storage.datasets].filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
  if (!rows.length)
    return (
      <Empty icon="dataset" title="Nothing stored yet">
        Recorded runs and uploaded data sets appear here, largest first.
      </Empty>
    );
  return (
    <table className="table">
      <TableHead columns={["Item", "Kind", ofNumbers("Runs"), ofNumbers("Size"), ofNumbers("Share")]} />
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <td className="name-cell">
              <Link className="ell" to={placeOf(row)} title={row.name}>
                {row.name}
              </Link>
            </td>
            <td className="mut">{row.runs ? "runs of an experiment" : "data set"}</td>
            <td className="num">{row.runs || ""}</td>
            <td className="num">{bytes(row.bytes)}</td>
            <td className="num">{percent(row.bytes / storage.used_bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where it can be deleted. */
const placeOf = ({ id, runs }: Large) => (runs ? `/runs?experiment=${id}` : "/datasets");
