import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { get } from "../../api/client";
import { isActive } from "../../api/queries";
import type { ExperimentDocument } from "../../api/document";
import type { InstanceRow, Instances as Found, Run } from "../../api/types";
import { bytes, latency, percent, short } from "../../lib/format";
import { sorted, type InstanceColumn } from "../../model/run/diagnosis";
import { Icon } from "../../ui/Icon";
import { Empty, Failure, Loading } from "../../ui/states";
import { HotKeys } from "./HotKeys";

interface Column {
  id: InstanceColumn;
  label: string;
  means: string;
  text: (row: InstanceRow) => string;
}

const COLUMNS: Column[] = [
  { id: "index", label: "Instance", means: "Index within the operator", text: ({ operator, index }) => `${operator}[${index}]` },
  { id: "host", label: "Host", means: "Host of the instance", text: ({ host }) => host },
  { id: "busy", label: "Busy", means: "Share of the time in service", text: ({ busy }) => percent(busy) },
  { id: "blocked", label: "Blocked", means: "Share of the time without credit to send", text: ({ blocked }) => percent(blocked) },
  { id: "stolen", label: "Stolen", means: "Share of the time in service while its core was elsewhere", text: ({ stolen }) => percent(stolen) },
  { id: "queue", label: "Queue", means: "Records that wait at the end of the frame", text: ({ queue }) => short(queue) },
  { id: "in_per_s", label: "In /s", means: "Records served per second", text: ({ in_per_s }) => short(in_per_s) },
  { id: "share", label: "Share", means: "Share of the input of its operator", text: ({ share }) => (share === null ? "–" : percent(share)) },
  { id: "out_per_s", label: "Out /s", means: "Records emitted per second", text: ({ out_per_s }) => short(out_per_s) },
  {
    id: "watermark_lag_ms",
    label: "Watermark lag",
    means: "Virtual time minus its watermark; –: no watermark yet, or the last one",
    text: ({ watermark_lag_ms }) => (watermark_lag_ms === null ? "–" : latency(watermark_lag_ms).join(" ")),
  },
  { id: "state_bytes", label: "State", means: "Accounting size of its state", text: ({ state_bytes }) => bytes(state_bytes) },
  { id: "late", label: "Late", means: "Late records in this frame", text: ({ late }) => short(late) },
];

function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names);
  if (!next.delete(name)) next.add(name);
  return next;
}

/** The instances of an operator, or of all, at the moment held: sortable, the busiest first. Each unfolds to its hottest keys. */
export function Instances({
  run,
  document,
  operator,
  moment_s,
  onOperator,
}: {
  run: Run;
  document: ExperimentDocument;
  /** Empty: all. */
  operator: string;
  moment_s: number | null;
  onOperator: (operator: string) => void;
}) {
  const [order, setOrder] = useState<{ column: InstanceColumn; reversed: boolean }>({ column: "busy", reversed: false });
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const active = isActive(run);
  const params = new URLSearchParams({ ...(moment_s === null ? {} : { at_s: String(moment_s) }), ...(operator ? { operator } : {}) });
  const { data, error, refetch } = useQuery({
    queryKey: ["instances", run.id, run.state, String(params)],
    queryFn: ({ signal }) => get<Found>(`/api/runs/${run.id}/instances?${params}`, signal),
    staleTime: active ? 3000 : Infinity,
    refetchInterval: active ? 3000 : false,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const rows = data ? sorted(data.rows, order.column, order.reversed) : [];
  const most = data ? Math.max(...data.rows.map(({ busy }) => busy)) : 0;
  return (
    <div className="instances scroll" data-testid="instances">
      <div className="ph">
        <label>
          <span className="vh">Operator</span>
          <select className="in" value={operator} onChange={(event) => onOperator(event.target.value)}>
            <option value="">All operators</option>
            {document.query.operators.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        <span className="mut">{data && `Frame from ${short(data.from_s)} to ${short(data.to_s)} s`}</span>
      </div>
      {error ? (
        run.frames && !active ? <Failure error={error} retry={() => void refetch()} /> : <Empty icon="clock" title="No frames are stored yet" />
      ) : !data ? (
        <Loading />
      ) : (
        <table className="table">
          <thead>
            <tr>
              {COLUMNS.map(({ id, label, means }) => {
                const on = order.column === id;
                return (
                  <th key={id} className={id === "index" || id === "host" ? "" : "num"} aria-sort={on ? (order.reversed ? "ascending" : "descending") : undefined}>
                    <button className="sort" title={means} onClick={() => setOrder({ column: id, reversed: on && !order.reversed })}>
                      {label}
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const name = `${row.operator}[${row.index}]`;
              const open = opened.has(name);
              return (
                <Fragment key={name}>
                  <tr className={row.busy >= 0.95 && row.busy === most ? "limit" : ""}>
                    {COLUMNS.map(({ id, text }) => (
                      <td key={id} className={id === "index" || id === "host" ? "" : "num"}>
                        {id === "index" ? (
                          <button
                            className="fold"
                            aria-expanded={open}
                            title={open ? `Hide the keys of ${name}` : `Show the keys with the most records of ${name}`}
                            onClick={() => setOpened(toggled(opened, name))}
                          >
                            <Icon name={open ? "down" : "right"} small />
                            {text(row)}
                          </button>
                        ) : (
                          text(row)
                        )}
                      </td>
                    ))}
                  </tr>
                  {open && data && (
                    <tr className="of-keys" data-testid={`keys-${name}`}>
                      <td colSpan={COLUMNS.length}>
                        <div>
                          <HotKeys run={run} operator={row.operator} index={row.index} at_s={data.to_s} />
                        </div>
                      </td>
                    </tr>
                  )}
                </Fragment>
              );
            })}
          </tbody>
        </table>
      )}
    </div>
  );
}
