import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { KINDS, type AnalysisKind, type RunsAsked } from "../../api/analysis";
import { ApiError, post } from "../../api/client";
import { selectionQuery } from "../../api/queries";
import type { Analysis } from "../../api/types";
import { plural } from "../../lib/format";
import { useSettled } from "../../lib/useSettled";
import { KIND_WORDS } from "../../model/run/analysis";
import { newText, questionOf, selectionOf, whyNot, type Fields } from "../../model/run/asking";
import { FormDialog } from "../../ui/FormDialog";
import { Loading } from "../../ui/states";
import { toast } from "../../ui/toasts";
import { Field } from "./Field";
import { Reading } from "./Reading";
import { Side } from "./Side";

/** Of the question, that have a field here. */
const PLACES = ["/runs", "/against", "/span", "/metric", "/x", "/y", "/by"];
type Text = Exclude<keyof Fields, "runs" | "against" | "span">;

/**
 * What is asked, about which runs, over which span; and what that would read. The server checks it, and its words stand at the field that
 * they are about.
 */
export function AskDialog({
  kind,
  first,
  onKind,
  onClose,
}: {
  kind: AnalysisKind;
  /** What the form begins with. */
  first: Fields;
  onKind: (kind: AnalysisKind) => void;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const [fields, setFields] = useState(first);
  const set = (changes: Partial<Fields>) => setFields((before) => ({ ...before, ...changes }));
  const narrow = (side: "runs" | "against") => (changes: Partial<RunsAsked>) => setFields((before) => ({ ...before, [side]: { ...before[side], ...changes } }));
  const ask = useMutation({
    mutationFn: () => post<Analysis>("/api/spark/jobs", questionOf(kind, fields)),
    onSuccess: (made) => {
      if (made.note) toast(made.note, { tone: "warn", seconds: 12 });
      void navigate(`/analysis/${made.id}`);
    },
  });
  const settled = useSettled(fields);
  const { data: selection, error: unreadable, isPlaceholderData: stale, refetch } = useQuery(selectionQuery(selectionOf(kind, settled)));
  const problems = [ask.error, unreadable].flatMap((error) => (error instanceof ApiError ? error.problems : []));
  const problemAt = (at: string) => problems.find(({ pointer }) => pointer.startsWith(at));
  const refused = unreadable instanceof ApiError && unreadable.problems.length > 0;
  const empty = !stale && !unreadable && [selection?.runs, kind === "comparison" ? selection?.against : null].some((side) => side?.all.runs === 0);
  const why = whyNot(kind, fields) || (empty ? "No run matches; change the selection." : "");
  const text = (name: Text, label: string, at: string, hint = "", about = "", unit = "") => (
    <Field label={label} about={about} problem={problemAt(at)}>
      {(id) => (
        <>
          <input id={id} value={fields[name]} maxLength={200} placeholder={hint} onChange={({ target }) => set({ [name]: target.value })} />
          {unit && <span>{unit}</span>}
        </>
      )}
    </Field>
  );
  const byExperiment = () => {
    set({ by: "experiment" });
    onKind("statistics");
  };
  const reading = (side: "runs" | "against", label: string) => {
    const selected = selection?.[side];
    if (unreadable) return null;
    if (!selected) return <Loading lines={1} />;
    return (
      <Reading
        label={label}
        kind={kind}
        by={fields.by}
        runs={fields[side]}
        selected={selected}
        onOnly={(experiment) => narrow(side)({ experiment })}
        onByExperiment={byExperiment}
      />
    );
  };
  const compared = kind === "comparison";
  const placed = problems.some(({ pointer }) => PLACES.some((place) => pointer.startsWith(place)));
  return (
    <FormDialog
      title="Ask about many runs"
      wide
      verb="Ask"
      className="ask-form"
      why={why}
      busy={ask.isPending}
      error={placed ? null : ask.error}
      onSubmit={ask.mutate}
      onClose={onClose}
      testId="ask-now"
    >
      <div className="seg" role="radiogroup" aria-label="Question">
        {KINDS.map((one) => (
          <label key={one}>
            <input type="radio" name="kind" checked={kind === one} onChange={() => onKind(one)} />
            {KIND_WORDS[one].title}
          </label>
        ))}
      </div>
      <p className="mut small">{KIND_WORDS[kind].about}.</p>
      <Side
        label={compared ? "These runs" : "Runs"}
        about="search; empty: all"
        hint="Name, number, p99>500ms, tag:name"
        runs={fields.runs}
        problem={problemAt("/runs")}
        onChange={narrow("runs")}
      />
      {reading("runs", compared ? "What is read of these runs" : "What is read")}
      {compared && (
        <>
          <Side
            label="Against these"
            about="the base"
            hint="Name, number, per_s=1000"
            runs={fields.against}
            problem={problemAt("/against")}
            onChange={narrow("against")}
          />
          {reading("against", "What is read of the base")}
          {selection?.against && !unreadable && (
            <p className="mut small" data-testid="reading-both">
              Both sides together: {newText(selection.new, selection.runs.all.runs + selection.against.all.runs - selection.common)}.
              {selection.common > 0 && ` ${plural(selection.common, "run is", "runs are")} on both sides.`}
            </p>
          )}
        </>
      )}
      {unreadable && !refused && (
        <p className="mut small" role="status">
          The runs cannot be counted: {unreadable.message}{" "}
          <button type="button" className="link" onClick={() => void refetch()}>
            Try again
          </button>
        </p>
      )}
      {kind === "surface" && (
        <div className="three">
          {text("x", "x axis", "/x", "per_s", "a parameter")}
          {text("y", "y axis", "/y", "/cluster/hosts/0/count", "a parameter")}
          {text("metric", "Metric", "/metric", "p99_ms")}
        </div>
      )}
      {kind === "statistics" && text("by", "Group by", "/by", "experiment", "experiment, or a parameter")}
      {(kind === "statistics" || kind === "comparison") &&
        text("metrics", "Metrics", "/metrics", "p99_ms, records_out", "p50_ms to max_ms, in_per_s, recovery_s, or any summary metric")}
      <div className="two">
        {text("from", "From", "/span/from_s", "", "empty: the end of warm-up", "s")}
        {text("to", "To", "/span", "", "empty: the end of the run", "s")}
      </div>
    </FormDialog>
  );
}
