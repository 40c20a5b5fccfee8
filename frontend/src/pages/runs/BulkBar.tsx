import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { isActive, tagsQuery } from "../../api/queries";
import type { Run } from "../../api/types";
import { plural } from "../../lib/format";
import { askLink, CHOSEN_MAX } from "../../model/run/asking";
import { COMPARED_MAX, COMPARED_MIN, compareLink, withBaseline } from "../../model/run/compare";
import { PinButton, useBaselines } from "../../session/baseline";
import { WriteButton } from "../../session/may";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { useBulk } from "./useBulk";

const TAG_LENGTH_MAX = 50;

/** What can be done to the chosen runs; each disabled button says why. */
export function BulkBar({ runs, onClear }: { runs: Run[]; onClear: () => void }) {
  const bulk = useBulk();
  const navigate = useNavigate();
  const active = runs.filter((run) => isActive(run));
  const only = runs.length === 1 ? runs[0] : undefined;
  const baselines = useBaselines();
  const ids = withBaseline(runs, baselines);
  const compared =
    ids.length < COMPARED_MIN
      ? "Choose a second run to compare with"
      : ids.length > COMPARED_MAX
        ? `At most ${COMPARED_MAX} runs can be compared at once; remove ${runs.length - COMPARED_MAX}`
        : "";
  const unasked =
    runs.length > CHOSEN_MAX
      ? `At most ${CHOSEN_MAX.toLocaleString("en-US")} runs can be chosen one by one; use a search`
      : runs.every(({ state }) => state !== "succeeded")
        ? "None of these has succeeded"
        : "";
  return (
    <div className="bulk" role="region" aria-label="Chosen runs" data-testid="bulk">
      <b>{plural(runs.length, "run")} chosen</b>
      <button
        className="btn primary"
        disabled={Boolean(compared)}
        title={compared || "Charts, metrics and document differences"}
        onClick={() => void navigate(compareLink(ids))}
      >
        <Icon name="compare" />
        {only && ids.length > 1 ? "Compare with baseline" : "Compare"}
      </button>
      <WriteButton
        className="btn"
        disabled={Boolean(unasked)}
        title={unasked || "Analyse the succeeded runs of this selection"}
        data-testid="analyse-chosen"
        onClick={() => void navigate(askLink({ ids: runs.map(({ id }) => id) }))}
      >
        <Icon name="agg" />
        Analyse
      </WriteButton>
      {only && <PinButton run={only} />}
      <TagMenu runs={runs} onTag={(action, tag) => void bulk(action, runs, tag)} />
      <WriteButton
        className="btn"
        disabled={!active.length}
        title={active.length ? "Measurements so far are kept" : "All of these have ended"}
        onClick={() => void bulk("cancel", active)}
      >
        <Icon name="cross" />
        Cancel{active.length && active.length < runs.length ? ` ${active.length}` : ""}
      </WriteButton>
      <WriteButton
        className="btn danger"
        disabled={active.length > 0}
        title={active.length ? "Cancel unfinished runs first" : "Can be undone"}
        onClick={() => {
          onClear();
          void bulk("delete", runs);
        }}
      >
        <Icon name="trash" />
        Delete
      </WriteButton>
      {compared && <span className="mut small">{compared}</span>}
      <span className="grow" />
      <button className="btn ghost" onClick={onClear}>
        Clear
      </button>
    </div>
  );
}

/** Tags that all chosen runs have are taken away, any other is given. */
function TagMenu({ runs, onTag }: { runs: Run[]; onTag: (action: "tag" | "untag", tag: string) => void }) {
  const { data: tags = [] } = useQuery(tagsQuery);
  const [name, setName] = useState("");
  const fresh = name.trim();
  return (
    <Menu
      className="btn"
      title="Tag the chosen runs"
      refusal={useRefusal()}
      label={
        <>
          <Icon name="flag" />
          Tag
          <Icon name="down" small />
        </>
      }
    >
      {(close) => (
        <div className="tag-menu">
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (!fresh) return;
              onTag("tag", fresh);
              setName("");
              close();
            }}
          >
            <input
              autoFocus
              aria-label="New tag"
              placeholder="New tag, then Enter"
              value={name}
              maxLength={TAG_LENGTH_MAX}
              onChange={(event) => setName(event.target.value)}
            />
          </form>
          {tags.map((tag) => {
            const all = runs.every((run) => run.tags.includes(tag.name));
            return (
              <button
                key={tag.name}
                aria-pressed={all}
                onClick={() => {
                  onTag(all ? "untag" : "tag", tag.name);
                  close();
                }}
              >
                {all ? <Icon name="check" /> : <span />}
                <span className="ell">{tag.name}</span>
                <small>{all ? "remove" : tag.runs}</small>
              </button>
            );
          })}
        </div>
      )}
    </Menu>
  );
}
