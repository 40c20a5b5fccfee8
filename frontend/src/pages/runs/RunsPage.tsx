import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { RUNS_PER_PAGE, runFieldsQuery, runsQuery, whichOf } from "../../api/queries";
import type { Run } from "../../api/types";
import { useUrlState } from "../../lib/useUrlState";
import { askLink, listedRuns, listRefusal } from "../../model/run/asking";
import { namesIn } from "../../model/run/runFields";
import { addressOf, KEPT, viewOf } from "../../model/run/views";
import { WriteButton } from "../../session/may";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { NoMatch } from "../../ui/NoMatch";
import { Pager } from "../../ui/Pager";
import { Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";
import { BulkBar } from "./BulkBar";
import { columnsNamed } from "./columns";
import { ColumnsMenu } from "./ColumnsMenu";
import { GroupsView, GroupTools } from "./GroupsView";
import type { Instead } from "./instead";
import { NoRuns } from "./NoRuns";
import { ParallelView } from "./ParallelView";
import { Refused } from "./Refused";
import { RunFilters } from "./RunFilters";
import { RunTable } from "./RunTable";
import { ScatterView } from "./ScatterView";
import { useWide } from "./useWide";
import { ViewsMenu } from "./ViewsMenu";
import "./runs.css";

const IN_ADDRESS = [...KEPT, "offset"] as const;
const NEWEST_FIRST = "-number";
const SHOWN = [
  ["", "List", "The runs one by one"],
  ["groups", "Groups", "The runs in groups, with median and spread of each"],
  ["scatter", "Scatter", "The runs as points, above the list"],
  ["parallel", "Parallel", "The runs as lines across parallel axes, above the list"],
] as const;
const FIRST_AXES = 4;

/** All runs of the lab: a list, groups or a picture. What is searched for, and how it is shown, stands in the address. */
export function RunsPage() {
  const [url, change] = useUrlState(IN_ADDRESS);
  const offset = Number(url.offset) || 0;
  const sort = url.sort || NEWEST_FIRST;
  const isWide = useWide();
  const navigate = useNavigate();
  const unasked = listRefusal(url.state);
  const which = whichOf(url);
  const columns = columnsNamed(url.columns, isWide);
  const asked = columns.flatMap(({ field }) => field ?? []);
  const isGrouped = url.show === "groups";
  const { data, error, refetch, isPlaceholderData } = useQuery(
    runsQuery({ ...which, sort: url.sort, offset: isGrouped ? 0 : offset, values: asked }),
  );
  // Chosen runs stay chosen when the page or the filter changes, as they were when they were last seen.
  const [chosen, setChosen] = useState<ReadonlyMap<string, Run>>(new Map());
  const runs = data?.items ?? [];
  const current = [...chosen.values()].map((run) => runs.find((one) => one.id === run.id) ?? run);
  const values = new Map(data?.fields.map(({ unit, texts }, at) => [data.asked[at] ?? "", { unit, texts, cells: data.values[at] ?? [] }]) ?? []);

  const filter = (changes: Partial<typeof url>, replace = false) => change({ offset: "", ...changes }, replace);
  const onSearch = (search: string) => filter({ search });
  const choose = (ids: string[], on: boolean) =>
    setChosen((before) => {
      const next = new Map(before);
      for (const run of runs)
        if (ids.includes(run.id)) {
          if (on) next.set(run.id, run);
          else next.delete(run.id);
        }
      return next;
    });

  const filtered = Boolean(url.state || url.search || url.experiment || url.tag || url.study);
  const count = data?.count ?? 0;
  const all = () => filter({ state: "", search: "", experiment: "", tag: "", study: "", of_studies: "1" });
  const instead: Instead = {
    none: filtered ? <NoMatch icon="runs" of="run" onShowAll={all} /> : <NoRuns isHiding={!url.of_studies} />,
    refused: (error, retry) => <Refused error={error} url={url} retry={() => void retry()} onShowAll={all} onChange={filter} />,
  };
  const measures = namesIn(url.measures || "p99");
  const grouping = { by: url.by || "experiment", then: url.then, measures, order: url.order };
  const axes = useAxes(url.axes, url.show === "parallel");
  const colour = url.colour === "none" ? "" : url.colour || "state";
  const picture = { which, colour, log: url.log, onChange: change, onSearch, instead };
  return (
    <div className="page on-runs">
      <TopBar
        title="Runs"
        crumb={<h1>Runs</h1>}
        actions={
          <>
            <ViewsMenu query={viewOf(url)} onOpen={(query) => filter(addressOf(query))} />
            <ColumnsMenu columns={url.columns} isWide={isWide} onColumns={(next) => change({ columns: next }, true)} />
          </>
        }
      />
      <div className="list-page">
        <div className="toolbar">
          <RunFilters which={which} onChange={filter} />
          <span className="grow" />
          <WriteButton
            className="btn"
            disabled={Boolean(unasked)}
            title={unasked || "Ask a question about the runs that this list finds"}
            data-testid="analyse-listed"
            onClick={() => void navigate(askLink(listedRuns(url)))}
          >
            <Icon name="agg" />
            Analyse
          </WriteButton>
          <Count of={data && count} one="run" />
        </div>
        <div className="toolbar">
          <div className="seg" role="radiogroup" aria-label="Show the runs as">
            {SHOWN.map(([id, label, title]) => (
              <label key={id} title={title}>
                <input type="radio" name="show" checked={url.show === id} onChange={() => filter({ show: id })} />
                {label}
              </label>
            ))}
          </div>
          {isGrouped && <GroupTools grouping={grouping} onChange={(changes) => filter(changes)} />}
        </div>
        {isGrouped && (
          <GroupsView
            which={which}
            grouping={grouping}
            offset={offset}
            onOrder={(order) => filter({ order })}
            onOffset={(next) => change({ offset: next })}
            instead={instead}
            linkTo={(search) => `?${new URLSearchParams(given({ ...url, search, show: "", offset: "" }))}`}
          />
        )}
        {url.show === "scatter" && <ScatterView {...picture} x={url.x || "out"} y={url.y || "p99"} />}
        {url.show === "parallel" &&
          (axes.names ? (
            <ParallelView {...picture} fields={axes.names} />
          ) : (
            <section className="panel picture">{axes.error ? <Failure error={axes.error} retry={axes.retry} /> : <Loading />}</section>
          ))}
        {!isGrouped && chosen.size > 0 && <BulkBar runs={current} onClear={() => setChosen(new Map())} />}
        {!isGrouped && (
          <section className="panel" aria-label="Runs" data-testid="run-list">
            <div className="scroll" aria-busy={isPlaceholderData} style={isPlaceholderData ? { opacity: 0.6 } : undefined} tabIndex={0}>
              {error ? (
                instead.refused(error, refetch)
              ) : !data ? (
                <Loading />
              ) : runs.length ? (
                <RunTable
                  runs={runs}
                  columns={columns}
                  values={values}
                  sort={sort}
                  usual={NEWEST_FIRST}
                  onSort={(next) => filter({ sort: next === NEWEST_FIRST ? "" : next })}
                  chosen={new Set(chosen.keys())}
                  onChoose={choose}
                  onTag={(tag) => filter({ tag })}
                />
              ) : (
                instead.none
              )}
            </div>
          </section>
        )}
        {!isGrouped && <Pager offset={offset} size={RUNS_PER_PAGE} count={count} onOffset={(next) => change({ offset: next })} />}
      </div>
    </div>
  );
}

const given = (url: { [name: string]: string }) => Object.entries(url).filter(([, value]) => value);

/** The axes in the address; where it names none, the parameters in which runs differ and what is measured. names null: not known yet. */
function useAxes(named: string, shown: boolean): { names: string[] | null; error: Error | null; retry: () => void } {
  const { data, error, refetch } = useQuery({ ...runFieldsQuery("", true), enabled: shown && !named });
  const names = useMemo(
    () => (named ? namesIn(named) : data ? [...data.parameters.filter((name) => name !== SEED).slice(0, FIRST_AXES), "out", "p99"] : null),
    [named, data],
  );
  return { names, error, retry: () => void refetch() };
}

const SEED = "/workload/seed";
