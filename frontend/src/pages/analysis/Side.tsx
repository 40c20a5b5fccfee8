import { useQuery } from "@tanstack/react-query";
import type { RunsAsked } from "../../api/analysis";
import { experimentsQuery, studyQuery, tagsQuery } from "../../api/queries";
import type { Problem } from "../../api/types";
import { plural } from "../../lib/format";
import { SEARCH_LENGTH_MAX } from "../../model/run/condition";
import { Icon } from "../../ui/Icon";
import { Field } from "./Field";

/** Which runs one side of a question is about: what was chosen before stays, and the fields narrow it. */
export function Side({
  label,
  about,
  hint,
  runs,
  problem,
  onChange,
}: {
  label: string;
  about: string;
  hint: string;
  runs: RunsAsked;
  problem: Problem | undefined;
  onChange: (changes: Partial<RunsAsked>) => void;
}) {
  const { data: tags = [] } = useQuery(tagsQuery);
  const { data: experiments = [] } = useQuery(experimentsQuery);
  const { data: study } = useQuery({ ...studyQuery(runs.study ?? ""), enabled: runs.study !== null });
  const options = (chosen: string, any: string, all: { id: string; name: string }[], gone: string) => (
    <>
      <option value="">{any}</option>
      {chosen && !all.some(({ id }) => id === chosen) && <option value={chosen}>{gone}</option>}
      {all.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </>
  );
  const ran = experiments.filter((one) => one.runs > 0 || one.id === runs.experiment);
  return (
    <>
      <div className="side">
        <Field label={label} about={about} problem={problem}>
          {(id) => (
            <input
              id={id}
              value={runs.search}
              maxLength={SEARCH_LENGTH_MAX}
              placeholder={hint}
              onChange={({ target }) => onChange({ search: target.value })}
            />
          )}
        </Field>
        <Field label="Experiment" about="">
          {(id) => (
            <>
              <select id={id} value={runs.experiment ?? ""} onChange={({ target }) => onChange({ experiment: target.value || null })}>
                {options(runs.experiment ?? "", "Any experiment", ran, "One experiment")}
              </select>
              <Icon name="down" />
            </>
          )}
        </Field>
        <Field label="Tag" about="">
          {(id) => (
            <>
              <select id={id} value={runs.tag} onChange={({ target }) => onChange({ tag: target.value })}>
                {options(runs.tag, "Any tag", tags.map(({ name }) => ({ id: name, name })), runs.tag)}
              </select>
              <Icon name="down" />
            </>
          )}
        </Field>
      </div>
      <Chosen runs={runs} study={study?.name} onChange={onChange} />
    </>
  );
}

/** What was chosen on another page; each can be given up. */
function Chosen({
  runs,
  study,
  onChange,
}: {
  runs: RunsAsked;
  study: string | undefined;
  onChange: (changes: Partial<RunsAsked>) => void;
}) {
  const parts: [text: string, changes: Partial<RunsAsked>, without: string][] = [];
  if (runs.ids) parts.push([plural(runs.ids.length, "chosen run"), { ids: null }, "Clear the chosen runs"]);
  if (runs.study) parts.push([study ? `Study “${study}”` : "One study", { study: null }, "Clear the study"]);
  if (!runs.of_studies && !runs.study) parts.push(["Without runs of studies", { of_studies: true }, "Runs of studies, too"]);
  if (runs.state !== "succeeded") parts.push([`Only ${runs.state} runs`, { state: "succeeded" }, "Show succeeded runs"]);
  if (!parts.length) return null;
  return (
    <div className="chosen" data-testid="asked-chosen">
      {parts.map(([text, changes, title]) => (
        <button key={text} type="button" className="btn" title={title} onClick={() => onChange(changes)}>
          <span className="ell">{text}</span>
          <Icon name="cross" small />
        </button>
      ))}
    </div>
  );
}
