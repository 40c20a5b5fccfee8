import { useState } from "react";
import type { ExperimentDocument } from "../../api/document";
import { latency, plural, short } from "../../lib/format";
import { queriesOf, queryInWords } from "../../model/document/queries";
import { orderedCopies, queryRows, type CopyOrder, type CopyRow, type QueryRow } from "../../model/run/queries";
import { Icon } from "../../ui/Icon";
import { Empty } from "../../ui/states";
import { momentOf, useLiveRun } from "./liveRun";

const time = (ms: number | null) => (ms === null ? "–" : latency(ms).join(" "));

interface Column {
  label: string;
  means: string;
  text: (row: QueryRow) => string;
}

const COLUMNS: Column[] = [
  { label: "Mean", means: "Mean latency in the last frame with deliveries", text: ({ mean_ms }) => time(mean_ms) },
  { label: "p99", means: "99th percentile of the latency in the last frame with deliveries", text: ({ p99_ms }) => time(p99_ms) },
  { label: "In /s", means: "Records read by the query's sources", text: ({ in_per_s }) => short(in_per_s) },
  { label: "Out /s", means: "Records delivered by the query's sinks", text: ({ out_per_s }) => short(out_per_s) },
  { label: "Served /s", means: "Records served by the query's operators, by each of them counted", text: ({ served_per_s }) => short(served_per_s) },
  { label: "Queue", means: "Records that wait at the query's operators", text: ({ queue }) => short(queue) },
  { label: "Late", means: "Late records in the frame", text: ({ late }) => short(late) },
];

const ORDERS: { id: CopyOrder; label: string; means: string }[] = [
  { id: "name", label: "Copy", means: "In the order of their numbers" },
  { id: "mean_ms", label: "Mean latency", means: "Mean latency in the last frame with deliveries; –: none so far" },
  { id: "out_per_s", label: "Out /s", means: "Records delivered" },
  { id: "queue", label: "Queue", means: "Records that wait at the copy's operators" },
];

/** Latency and throughput of each query at the moment held; a query unfolds to its copies. */
export function Queries({ document }: { document: ExperimentDocument }) {
  const log = useLiveRun((state) => state.log);
  const count = useLiveRun((state) => state.count);
  const moment_s = useLiveRun(momentOf);
  const rows = queryRows(log, moment_s === null ? count - 1 : Math.min(log.numberAt(moment_s), count - 1));
  const [chosen, setOpened] = useState<string | null | undefined>();
  const opened = chosen === undefined && rows.length === 1 ? rows[0]?.name : chosen; // a query alone shows its copies
  if (!rows.length) return <Empty icon="clock" title="No frames yet" />;
  const named = new Map(queriesOf(document).map((query) => [query.name, queryInWords(query)]));
  return (
    <div className="queries scroll" data-testid="queries">
      <table className="table">
        <thead>
          <tr>
            <th>Query</th>
            {COLUMNS.map(({ label, means }) => (
              <th key={label} className="num" title={means}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name} data-testid={`query-${row.name}`}>
              <td>
                {row.copies.length ? (
                  <button
                    className="fold"
                    aria-expanded={opened === row.name}
                    title={`${opened === row.name ? "Hide" : "Show"} the copies of ${row.name}`}
                    onClick={() => setOpened(opened === row.name ? null : row.name)}
                  >
                    <Icon name={opened === row.name ? "down" : "right"} small />
                    {named.get(row.name) ?? row.name}
                  </button>
                ) : (
                  (named.get(row.name) ?? row.name)
                )}
              </td>
              {COLUMNS.map(({ label, text }) => (
                <td key={label} className="num">
                  {text(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.map((row) => row.name === opened && row.copies.length > 0 && <Copies key={row.name} copies={row.copies} name={row.name} />)}
    </div>
  );
}

function Copies({ copies, name }: { copies: CopyRow[]; name: string }) {
  const [order, setOrder] = useState<CopyOrder>("name");
  const longest = Math.max(...copies.map(({ mean_ms }) => mean_ms ?? 0), 1e-9);
  return (
    <table className="table copies" data-testid="copies" aria-label={`${plural(copies.length, "copy", "copies")} of ${name}`}>
      <thead>
        <tr>
          {ORDERS.map(({ id, label, means }) => (
            <th key={id} className={id === "name" ? "" : "num"} aria-sort={order === id ? (id === "name" ? "ascending" : "descending") : undefined}>
              <button className="sort" title={means} onClick={() => setOrder(id)}>
                {label}
              </button>
            </th>
          ))}
          <td />
        </tr>
      </thead>
      <tbody>
        {orderedCopies(copies, order).map((copy) => (
          <tr key={copy.name}>
            <td>{copy.name}</td>
            <td className="num">{time(copy.mean_ms)}</td>
            <td className="num">{short(copy.out_per_s)}</td>
            <td className="num">{short(copy.queue)}</td>
            <td className="drawn" aria-hidden>
              <div className="bar">
                <i style={{ width: `${(100 * (copy.mean_ms ?? 0)) / longest}%` }} />
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
