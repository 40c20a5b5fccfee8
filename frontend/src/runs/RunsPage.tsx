import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  createColumnHelper,
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  useReactTable,
  type SortingState,
} from "@tanstack/react-table";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { remove } from "../api/client";
import { experimentsQuery, isActive, RUNS_PER_PAGE, runsQuery } from "../api/queries";
import type { Run, RunState } from "../api/types";
import { TopBar } from "../app/TopBar";
import { duration, latency, plural, short, when } from "../ui/format";
import { Icon } from "../ui/Icon";
import { Empty, Failure, Loading, StateBadge } from "../ui/states";
import { toast } from "../ui/toasts";
import "./runs.css";

const STATES: (RunState | "")[] = ["", "queued", "running", "succeeded", "failed", "cancelled"];
const UNDO_S = 6;
const SEARCH_AFTER_MS = 250;

/** All runs of the lab. What is searched for stands in the address. */
export function RunsPage() {
  const [params, setParams] = useSearchParams();
  const client = useQueryClient();
  const filter = {
    state: params.get("state") ?? "",
    search: params.get("search") ?? "",
    experiment: params.get("experiment") ?? "",
    offset: Number(params.get("offset")) || 0,
  };
  const { data, error, refetch, isPlaceholderData } = useQuery(runsQuery(filter));
  const { data: experiments } = useQuery(experimentsQuery);
  const [sorting, setSorting] = useState<SortingState>([]);
  const [hidden, setHidden] = useState<string[]>([]);
  const pending = useRef(new Map<string, ReturnType<typeof setTimeout>>());

  const change = (name: string, value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value) next.set(name, value);
        else next.delete(name);
        if (name !== "offset") next.delete("offset");
        return next;
      },
      { replace: true },
    );

  const drop = (run: Run) => {
    setHidden((now) => [...now, run.id]);
    const restore = () => {
      clearTimeout(pending.current.get(run.id));
      setHidden((now) => now.filter((id) => id !== run.id));
    };
    const send = () =>
      remove(`/api/runs/${run.id}`).then(
        () => client.invalidateQueries({ queryKey: ["runs"] }),
        (problem: Error) => {
          restore();
          toast(problem.message, { tone: "err" });
        },
      );
    pending.current.set(
      run.id,
      setTimeout(() => void send(), UNDO_S * 1000),
    );
    toast(`Run ${run.number} deleted.`, { action: { label: "Undo", run: restore }, seconds: UNDO_S });
  };
  const dropRef = useRef(drop);
  dropRef.current = drop;
  const columns = useMemo(() => runColumns((run) => dropRef.current(run)), []);
  const rows = useMemo(() => (data?.items ?? []).filter((run) => !hidden.includes(run.id)), [data, hidden]);
  const table = useReactTable({
    data: rows,
    columns,
    state: { sorting },
    onSortingChange: setSorting,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
    getRowId: (run) => run.id,
  });
  const filtered = Boolean(filter.state || filter.search || filter.experiment);
  const count = data?.count ?? 0;
  return (
    <div className="page">
      <TopBar title="Runs" crumb={<b>Runs</b>} />
      <div className="list-page">
        <div className="toolbar">
          <SearchField value={filter.search} onChange={(value) => change("search", value)} />
          <div className="seg" role="radiogroup" aria-label="State">
            {STATES.map((state) => (
              <label key={state}>
                <input type="radio" name="state" checked={filter.state === state} onChange={() => change("state", state)} />
                {state ? state.replace(/^./, (letter) => letter.toUpperCase()) : "All"}
              </label>
            ))}
          </div>
          {filter.experiment && (
            <button className="btn" onClick={() => change("experiment", "")} title="Show runs of all experiments">
              {experiments?.find((row) => row.id === filter.experiment)?.name ?? "one experiment"}
              <Icon name="cross" small />
            </button>
          )}
          <span className="grow" />
          <span className="mut small">{data ? plural(count, "run") : ""}</span>
        </div>
        <section className="panel">
          <div className="scroll" style={isPlaceholderData ? { opacity: 0.6 } : undefined}>
            {error ? (
              <Failure error={error} retry={() => void refetch()} />
            ) : !data ? (
              <Loading />
            ) : !rows.length ? (
              <Empty
                icon="runs"
                title={filtered ? "No run matches" : "No run yet"}
                action={
                  filtered ? (
                    <button className="btn" onClick={() => setParams({}, { replace: true })}>
                      Show all runs
                    </button>
                  ) : (
                    <Link className="btn" to="/">
                      Open an experiment
                    </Link>
                  )
                }
              >
                {filtered ? "" : "Open an experiment and press Run; it appears here with its progress."}
              </Empty>
            ) : (
              <table className="table runs">
                <thead>
                  {table.getHeaderGroups().map((group) => (
                    <tr key={group.id}>
                      {group.headers.map((header) => (
                        <th
                          key={header.id}
                          className={(header.column.columnDef.meta as { num?: boolean } | undefined)?.num ? "num" : ""}
                          aria-sort={
                            header.column.getIsSorted() === "asc"
                              ? "ascending"
                              : header.column.getIsSorted() === "desc"
                                ? "descending"
                                : "none"
                          }
                        >
                          {header.column.getCanSort() ? (
                            <button onClick={header.column.getToggleSortingHandler()}>
                              {flexRender(header.column.columnDef.header, header.getContext())}
                              {{ asc: "▲", desc: "▼" }[String(header.column.getIsSorted())] ?? ""}
                            </button>
                          ) : (
                            flexRender(header.column.columnDef.header, header.getContext())
                          )}
                        </th>
                      ))}
                    </tr>
                  ))}
                </thead>
                <tbody>
                  {table.getRowModel().rows.map((row) => (
                    <tr key={row.id} data-testid={`run-${row.original.number}`}>
                      {row.getVisibleCells().map((cell) => (
                        <td key={cell.id} className={(cell.column.columnDef.meta as { num?: boolean } | undefined)?.num ? "num" : ""}>
                          {flexRender(cell.column.columnDef.cell, cell.getContext())}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </div>
        </section>
        {count > RUNS_PER_PAGE && (
          <div className="toolbar">
            <span className="mut small">
              {filter.offset + 1} to {Math.min(count, filter.offset + RUNS_PER_PAGE)} of {count}
            </span>
            <span className="grow" />
            <button
              className="btn"
              disabled={filter.offset === 0}
              title={filter.offset === 0 ? "These are the newest runs" : ""}
              onClick={() => change("offset", String(Math.max(0, filter.offset - RUNS_PER_PAGE) || ""))}
            >
              Newer
            </button>
            <button
              className="btn"
              disabled={filter.offset + RUNS_PER_PAGE >= count}
              title={filter.offset + RUNS_PER_PAGE >= count ? "These are the oldest runs" : ""}
              onClick={() => change("offset", String(filter.offset + RUNS_PER_PAGE))}
            >
              Older
            </button>
          </div>
        )}
      </div>
    </div>
  );
}

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]); // eslint-disable-line react-hooks/exhaustive-deps -- only what is typed starts a search
  return (
    <label className="find" style={{ width: 280 }}>
      <Icon name="search" />
      <input
        aria-label="Search runs"
        placeholder="Search by name, number or digest"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
}

const helper = createColumnHelper<Run>();
const measured = (run: Run) => (run.summary?.latency_ms ?? {}) as { p50?: number | null; p99?: number | null };

function runColumns(onDelete: (run: Run) => void) {
  const ms = (value: number | null | undefined) =>
    value === null || value === undefined ? <span className="mut">–</span> : latency(value).join(" ");
  return [
    helper.accessor("number", {
      header: "Run",
      meta: { num: true },
      cell: ({ row: { original: run } }) => (
        <Link to={`/runs/${run.id}`}>
          <b>{run.number}</b>
        </Link>
      ),
    }),
    helper.accessor("state", {
      header: "State",
      cell: ({ row: { original: run } }) => (
        <span title={run.error ?? ""}>
          <StateBadge state={run.state} />
        </span>
      ),
    }),
    helper.accessor((run) => run.experiment.name, {
      id: "experiment",
      header: "Experiment",
      cell: ({ row: { original: run } }) => (
        <Link className="plain-link" to={`/experiments/${run.experiment.id}`}>
          {run.experiment.name}
        </Link>
      ),
    }),
    helper.accessor("progress", {
      header: "Virtual time",
      cell: ({ row: { original: run } }) =>
        isActive(run) ? (
          <span className="progress">
            <span className="track">
              <i style={{ width: `${Math.round((run.progress ?? 0) * 100)}%` }} />
            </span>
            {run.t_s === null ? "waiting" : `${short(run.t_s)} of ${short(run.horizon_s ?? 0)} s`}
          </span>
        ) : (
          <span className="mut">{run.t_s === null || run.t_s === undefined ? "–" : `${short(run.t_s)} s`}</span>
        ),
    }),
    helper.accessor("seed", { header: "Seed", meta: { num: true } }),
    helper.accessor((run) => measured(run).p50 ?? undefined, {
      id: "p50",
      header: "p50",
      meta: { num: true },
      cell: ({ row }) => ms(measured(row.original).p50),
    }),
    helper.accessor((run) => measured(run).p99 ?? undefined, {
      id: "p99",
      header: "p99",
      meta: { num: true },
      cell: ({ row }) => ms(measured(row.original).p99),
    }),
    helper.accessor((run) => (run.summary?.throughput_out_per_s as number | undefined) ?? undefined, {
      id: "out",
      header: "Out, rec/s",
      meta: { num: true },
      cell: (info) => (info.getValue() === undefined ? <span className="mut">–</span> : short(info.getValue() as number)),
    }),
    helper.accessor("created_at", { header: "Created", cell: (info) => <span className="mut">{when(info.getValue())}</span> }),
    helper.accessor(
      (run) => (run.started_at && run.finished_at ? (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000 : undefined),
      {
        id: "wall",
        header: "Took",
        meta: { num: true },
        cell: (info) => (info.getValue() === undefined ? <span className="mut">–</span> : duration(info.getValue() as number)),
      },
    ),
    helper.display({
      id: "actions",
      header: () => <span className="vh">Actions</span>,
      cell: ({ row: { original: run } }) => (
        <button
          className="btn ghost icon"
          aria-label={`Delete run ${run.number}`}
          disabled={isActive(run)}
          title={isActive(run) ? "Cancel the run before deleting it" : "Delete"}
          onClick={() => onDelete(run)}
        >
          <Icon name="trash" />
        </button>
      ),
    }),
  ];
}
