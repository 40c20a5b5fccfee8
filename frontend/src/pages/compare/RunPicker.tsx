import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { runsQuery } from "../../api/queries";
import { latency, plural, when } from "../../lib/format";
import { COMPARED_MAX, COMPARED_MIN } from "../../model/run/compare";
import { Dialog } from "../../ui/Dialog";
import { SearchField } from "../../ui/SearchField";
import { Empty, Failure, Loading, StateBadge } from "../../ui/states";

/** Chooses the runs of a comparison from all runs. */
export function RunPicker({
  chosen,
  onChoose,
  onClose,
}: {
  chosen: string[];
  onChoose: (ids: string[]) => void;
  onClose: () => void;
}) {
  const [search, setSearch] = useState("");
  const [ids, setIds] = useState(chosen);
  const { data, error, refetch } = useQuery(runsQuery({ search }));
  const full = ids.length >= COMPARED_MAX;
  const blocked = ids.length < COMPARED_MIN ? "Choose at least two runs" : "";
  return (
    <Dialog
      title="Runs to compare"
      wide
      onClose={onClose}
      footer={
        <>
          <span className="mut small grow">
            {full ? `${COMPARED_MAX} runs, the most that can be compared at once` : blocked || `${plural(ids.length, "run")} chosen`}
          </span>
          <button className="btn" onClick={onClose}>
            Close
          </button>
          <button className="btn primary" disabled={Boolean(blocked)} title={blocked} onClick={() => onChoose(ids)}>
            Compare
          </button>
        </>
      }
    >
      <SearchField label="Search runs" hint="Search by name, number or digest" value={search} onChange={setSearch} width={320} />
      <div className="scroll picker">
        {error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : !data ? (
          <Loading />
        ) : !data.items.length ? (
          <Empty icon="runs" title={search ? "No run matches" : "No run yet"}>
            {search ? "Try another word." : "Open a template or an experiment and press Run first."}
          </Empty>
        ) : (
          <ul>
            {data.items.map((run) => {
              const on = ids.includes(run.id);
              const p99 = (run.summary?.latency_ms as { p99?: number | null } | undefined)?.p99;
              return (
                <li key={run.id}>
                  <label className={on ? "on" : ""} title={full && !on ? "Remove another run first" : ""}>
                    <input
                      type="checkbox"
                      checked={on}
                      disabled={full && !on}
                      onChange={() => setIds(on ? ids.filter((id) => id !== run.id) : [...ids, run.id])}
                    />
                    <b>{run.number}</b>
                    <span className="ell">{run.experiment.name}</span>
                    <StateBadge state={run.state} />
                    <span className="mut">{typeof p99 === "number" ? `p99 ${latency(p99).join(" ")}` : ""}</span>
                    <span className="mut">{when(run.created_at)}</span>
                  </label>
                </li>
              );
            })}
          </ul>
        )}
      </div>
    </Dialog>
  );
}
