import { useQuery } from "@tanstack/react-query";
import { experimentsQuery, studyQuery, tagsQuery, type WhichRuns } from "../../api/queries";
import type { RunState } from "../../api/types";
import { SEARCH_LENGTH_MAX } from "../../model/run/condition";
import { Icon } from "../../ui/Icon";
import { SearchField } from "../../ui/SearchField";
import { FilterMenu } from "./FilterMenu";

const STATES: (RunState | "")[] = ["", "queued", "running", "paused", "succeeded", "failed", "cancelled"];

/** Which runs are shown. */
export function RunFilters({ which, onChange }: { which: WhichRuns; onChange: (changes: Partial<WhichRuns>, replace?: boolean) => void }) {
  const { data: experiments } = useQuery(experimentsQuery);
  const { data: tags = [] } = useQuery(tagsQuery);
  const { data: study } = useQuery({ ...studyQuery(which.study), enabled: which.study !== "" });
  return (
    <>
      <SearchField
        label="Search runs"
        hint="Name, number, p99:1s..10s, state=failed|cancelled, no:tag"
        value={which.search}
        length={SEARCH_LENGTH_MAX}
        width={320}
        onChange={(search) => onChange({ search }, true)}
      />
      <FilterMenu search={which.search} onSearch={(search) => onChange({ search })} />
      <div className="seg" role="radiogroup" aria-label="State">
        {STATES.map((state) => (
          <label key={state}>
            <input type="radio" name="state" checked={which.state === state} onChange={() => onChange({ state })} />
            {state ? state.replace(/^./, (letter) => letter.toUpperCase()) : "All"}
          </label>
        ))}
      </div>
      {(tags.length > 0 || which.tag) && (
        <label className="in tag-filter">
          <select aria-label="Tag" value={which.tag} onChange={(event) => onChange({ tag: event.target.value })}>
            <option value="">Any tag</option>
            {!tags.some((tag) => tag.name === which.tag) && which.tag && <option value={which.tag}>{which.tag}</option>}
            {tags.map((tag) => (
              <option key={tag.name} value={tag.name}>
                {tag.name} ({tag.runs})
              </option>
            ))}
          </select>
          <Icon name="down" />
        </label>
      )}
      {which.experiment && (
        <button className="btn" onClick={() => onChange({ experiment: "" })} title="Show runs of all experiments">
          <span className="ell">{experiments?.find((row) => row.id === which.experiment)?.name ?? "one experiment"}</span>
          <Icon name="cross" small />
        </button>
      )}
      {which.study ? (
        <button className="btn" onClick={() => onChange({ study: "" })} title="Show all runs, not only those of this study">
          <span className="ell">{study?.name ?? "one study"}</span>
          <Icon name="cross" small />
        </button>
      ) : (
        <label className="of-studies" title="Studies start many runs; they are hidden by default">
          <input
            type="checkbox"
            checked={which.of_studies === "1"}
            onChange={() => onChange({ of_studies: which.of_studies ? "" : "1" })}
          />
          Runs of studies
        </label>
      )}
    </>
  );
}
