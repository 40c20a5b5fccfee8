import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { ApiError } from "../../api/client";
import { experimentsQuery, RUNS_PER_PAGE, runsQuery, studyQuery, tagsQuery } from "../../api/queries";
import type { Run, RunState } from "../../api/types";
import { useUrlState } from "../../lib/useUrlState";
import { askLink, listedRuns } from "../../model/run/asking";
import { addressOf, viewOf } from "../../model/run/views";
import { Count } from "../../ui/Count";
import { Icon } from "../../ui/Icon";
import { Pager } from "../../ui/Pager";
import { SearchField } from "../../ui/SearchField";
import { Empty, Failure, Loading } from "../../ui/states";
import { TopBar } from "../../ui/TopBar";
import { BulkBar } from "./BulkBar";
import { columnsNamed } from "./columns";
import { ColumnsMenu } from "./ColumnsMenu";
import { FilterMenu } from "./FilterMenu";
import { RunTable } from "./RunTable";
import { ViewsMenu } from "./ViewsMenu";
import "./runs.css";

const STATES: (RunState | "")[] = ["", "queued", "running", "paused", "succeeded", "failed", "cancelled"];
const FILTERS = ["state", "search", "experiment", "tag", "study", "of_studies", "sort", "columns", "offset"] as const;
const NEWEST_FIRST = "-number";

/** All runs of the lab. What is searched for, and in which order, stands in the address. */
export function RunsPage() {
  const [url, change] = useUrlState(FILTERS);
  const offset = Number(url.offset) || 0;
  const sort = url.sort || NEWEST_FIRST;
  const { data, error, refetch, isPlaceholderData } = useQuery(runsQuery({ ...url, offset }));
  const { data: experiments } = useQuery(experimentsQuery);
  const { data: tags = [] } = useQuery(tagsQuery);
  const { data: study } = useQuery({ ...studyQuery(url.study), enabled: url.study !== "" });
  // Chosen runs stay chosen when the page or the filter changes, as they were when they were last seen.
  const [chosen, setChosen] = useState<ReadonlyMap<string, Run>>(new Map());
  const runs = data?.items ?? [];
  const current = [...chosen.values()].map((run) => runs.find((one) => one.id === run.id) ?? run);

  const filter = (changes: Partial<typeof url>) => change({ offset: "", ...changes });
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
  return (
    <div className="page on-runs">
      <TopBar
        title="Runs"
        crumb={<h1>Runs</h1>}
        actions={
          <>
            <ViewsMenu query={viewOf(url)} onOpen={(query) => filter(addressOf(query))} />
            <ColumnsMenu columns={url.columns} onColumns={(columns) => change({ columns }, true)} />
          </>
        }
      />
      <div className="list-page">
        <div className="toolbar">
          <SearchField
            label="Search runs"
            hint="Name, number, p99>500ms, tag:name"
            value={url.search}
            onChange={(search) => change({ search, offset: "" }, true)}
          />
          <FilterMenu search={url.search} onSearch={(search) => filter({ search })} />
          <div className="seg" role="radiogroup" aria-label="State">
            {STATES.map((state) => (
              <label key={state}>
                <input type="radio" name="state" checked={url.state === state} onChange={() => filter({ state })} />
                {state ? state.replace(/^./, (letter) => letter.toUpperCase()) : "All"}
              </label>
            ))}
          </div>
          {(tags.length > 0 || url.tag) && (
            <label className="in tag-filter">
              <select aria-label="Tag" value={url.tag} onChange={(event) => filter({ tag: event.target.value })}>
                <option value="">Any tag</option>
                {!tags.some((tag) => tag.name === url.tag) && url.tag && <option value={url.tag}>{url.tag}</option>}
                {tags.map((tag) => (
                  <option key={tag.name} value={tag.name}>
                    {tag.name} ({tag.runs})
                  </option>
                ))}
              </select>
              <Icon name="down" />
            </label>
          )}
          {url.experiment && (
            <button className="btn" onClick={() => filter({ experiment: "" })} title="Show runs of all experiments">
              <span className="ell">{experiments?.find((row) => row.id === url.experiment)?.name ?? "one experiment"}</span>
              <Icon name="cross" small />
            </button>
          )}
          {url.study ? (
            <button className="btn" onClick={() => filter({ study: "" })} title="Show all runs, not only those of this study">
              <span className="ell">{study?.name ?? "one study"}</span>
              <Icon name="cross" small />
            </button>
          ) : (
            <label className="of-studies" title="Studies start many runs; they are hidden by default">
              <input type="checkbox" checked={url.of_studies === "1"} onChange={() => filter({ of_studies: url.of_studies ? "" : "1" })} />
              Runs of studies
            </label>
          )}
          <span className="grow" />
          <Link className="btn" to={askLink(listedRuns(url))} title="Ask a question about the runs that this list finds" data-testid="analyse-listed">
            <Icon name="agg" />
            Analyse
          </Link>
          <Count of={data && count} one="run" />
        </div>
        {chosen.size > 0 && <BulkBar runs={current} onClear={() => setChosen(new Map())} />}
        <section className="panel" aria-label="Runs" data-testid="run-list">
          <div className="scroll" style={isPlaceholderData ? { opacity: 0.6 } : undefined} tabIndex={0}>
            {error instanceof ApiError && error.status === 422 ? (
              <Empty
                icon="filter"
                title="Invalid search"
                action={
                  <button className="btn" onClick={all}>
                    Show all runs
                  </button>
                }
              >
                {error.message}
              </Empty>
            ) : error ? (
              <Failure error={error} retry={() => void refetch()} />
            ) : !data ? (
              <Loading />
            ) : runs.length ? (
              <RunTable
                runs={runs}
                columns={columnsNamed(url.columns)}
                sort={sort}
                onSort={(next) => filter({ sort: next === NEWEST_FIRST ? "" : next })}
                chosen={new Set(chosen.keys())}
                onChoose={choose}
                onTag={(tag) => filter({ tag })}
              />
            ) : filtered ? (
              <Empty
                icon="runs"
                title="No run matches"
                action={
                  <button className="btn" onClick={all}>
                    Show all runs
                  </button>
                }
              />
            ) : (
              <Empty
                icon="runs"
                title="No run yet"
                action={
                  <Link className="btn primary" to="/templates">
                    <Icon name="gallery" />
                    Open a template
                  </Link>
                }
              >
                Open a template or an experiment and press Run; the run appears here with its progress.
              </Empty>
            )}
          </div>
        </section>
        <Pager offset={offset} size={RUNS_PER_PAGE} count={count} onOffset={(next) => change({ offset: next })} />
      </div>
    </div>
  );
}
