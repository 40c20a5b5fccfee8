import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link, useNavigate } from "react-router";
import { get, post, remove } from "../api/client";
import { experimentsQuery } from "../api/queries";
import type { ExperimentRecord, ExperimentRow, Json } from "../api/types";
import { TopBar } from "../app/TopBar";
import { emptyDocument, type ExperimentDocument } from "../model/document";
import { Icon } from "../ui/Icon";
import { plural, when } from "../ui/format";
import { Empty, Failure, Loading } from "../ui/states";
import { toast } from "../ui/toasts";

const UNDO_S = 6;

/** Every experiment of the lab: open, new, duplicate, delete. */
export function ExperimentsPage() {
  const { data, error, refetch } = useQuery(experimentsQuery);
  const [search, setSearch] = useState("");
  const [hidden, setHidden] = useState<string[]>([]);
  const timers = useRef(new Map<string, ReturnType<typeof setTimeout>>());
  const navigate = useNavigate();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ["experiments"] });
  const create = useMutation({
    mutationFn: (document: ExperimentDocument | Json) => post<ExperimentRecord>("/api/experiments", { document }),
    onSuccess: (record) => {
      void refresh();
      void navigate(`/experiments/${record.id}`);
    },
    onError: (problem) => toast(problem.message, { tone: "err" }),
  });
  const duplicate = async (row: ExperimentRow) => {
    const record = await get<ExperimentRecord>(`/api/experiments/${row.id}`);
    create.mutate({ ...(record.document as { [key: string]: Json }), name: `${row.name}, copy` });
  };
  const drop = (row: ExperimentRow) => {
    setHidden((now) => [...now, row.id]);
    const restore = () => {
      clearTimeout(timers.current.get(row.id));
      setHidden((now) => now.filter((id) => id !== row.id));
    };
    timers.current.set(
      row.id,
      setTimeout(() => {
        remove(`/api/experiments/${row.id}`).then(refresh, (problem: Error) => {
          restore();
          toast(problem.message, { tone: "err" });
        });
      }, UNDO_S * 1000),
    );
    toast(`${row.name} deleted.`, { action: { label: "Undo", run: restore }, seconds: UNDO_S });
  };
  const word = search.trim().toLowerCase();
  const rows = (data ?? []).filter((row) => !hidden.includes(row.id) && (!word || `${row.name} ${row.description}`.toLowerCase().includes(word)));
  return (
    <div className="page">
      <TopBar
        title="Experiments"
        crumb={<b>Experiments</b>}
        actions={
          <button className="btn primary" data-testid="new-experiment" onClick={() => create.mutate(emptyDocument())}>
            <Icon name="plus" />
            New experiment
          </button>
        }
      />
      <div className="list-page">
        <div className="toolbar">
          <label className="find" style={{ width: 280 }}>
            <Icon name="search" />
            <input
              aria-label="Search experiments"
              placeholder="Search by name or description"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
          </label>
          <span className="grow" />
          <span className="mut small">{data ? plural(rows.length, "experiment") : ""}</span>
        </div>
        <section className="panel">
          <div className="scroll">
            {error ? (
              <Failure error={error} retry={() => void refetch()} />
            ) : !data ? (
              <Loading />
            ) : !rows.length ? (
              <Empty
                icon="canvas"
                title={word ? `No experiment speaks of “${search}”` : "No experiment yet"}
                action={
                  <button className="btn" onClick={() => (word ? setSearch("") : create.mutate(emptyDocument()))}>
                    {word ? "Show all" : "New experiment"}
                  </button>
                }
              />
            ) : (
              <table className="table experiments">
                <thead>
                  <tr>
                    <th>Name</th>
                    <th className="num">Runs</th>
                    <th>Changed</th>
                    <th>
                      <span className="vh">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row) => (
                    <tr key={row.id}>
                      <td>
                        <Link to={`/experiments/${row.id}`}>
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
                          <button
                            className="btn ghost icon"
                            title="Duplicate"
                            aria-label={`Duplicate ${row.name}`}
                            onClick={() => void duplicate(row)}
                          >
                            <Icon name="copy" />
                          </button>
                          <button className="btn ghost icon" title="Delete" aria-label={`Delete ${row.name}`} onClick={() => drop(row)}>
                            <Icon name="trash" />
                          </button>
                        </span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </div>
        </section>
      </div>
    </div>
  );
}
