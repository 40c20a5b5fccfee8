import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { KINDS, type AnalysisKind } from "../../api/analysis";
import { ApiError, get, post } from "../../api/client";
import { tagsQuery } from "../../api/queries";
import type { Analysis, Problem } from "../../api/types";
import { plural } from "../../lib/format";
import { KIND_WORDS, names, seconds } from "../../model/run/analysis";
import { Remark } from "../../ui/Credentials";
import { FormDialog } from "../../ui/FormDialog";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";

const FIRST = {
  search: "",
  tag: "",
  against: "",
  againstTag: "",
  from: "",
  to: "",
  metrics: "p50_ms, p99_ms, out_per_s",
  metric: "p99_ms",
  x: "",
  y: "",
  by: "experiment",
};
type Fields = typeof FIRST;
/** Of the question, that have a field here. */
const PLACES = ["/runs", "/against", "/span", "/metric", "/x", "/y", "/by"];

/** What is asked, about which runs, over which span. The server checks it, and its words stand at the field that they are about. */
export function AskDialog({
  kind,
  search,
  study,
  onKind,
  onClose,
}: {
  kind: AnalysisKind;
  /** By what the runs are found to begin with, and of which study. */
  search: string;
  study: string;
  onKind: (kind: AnalysisKind) => void;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const [fields, setFields] = useState<Fields>({ ...FIRST, search });
  const set = (changes: Partial<Fields>) => setFields((before) => ({ ...before, ...changes }));
  const { data: tags = [] } = useQuery(tagsQuery);
  const ask = useMutation({
    mutationFn: () => post<Analysis>("/api/spark/jobs", questionOf(kind, fields, study)),
    onSuccess: (made) => {
      if (made.note) toast(made.note, { tone: "warn", seconds: 12 });
      void navigate(`/analysis/${made.id}`);
    },
  });
  const chosen = new URLSearchParams({ search: fields.search, tag: fields.tag, state: "succeeded", of_studies: "true", limit: "1", ...(study ? { study } : {}) });
  const { data: matching, isError: unreadable } = useQuery({
    queryKey: ["runs", "asked", String(chosen)],
    queryFn: ({ signal }) => get<{ count: number }>(`/api/runs?${chosen}`, signal),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const problems = ask.error instanceof ApiError ? ask.error.problems : [];
  const why = whyNot(kind, fields);
  const text = (name: keyof Fields, label: string, at: string, hint = "", about = "", unit = "") => (
    <Field label={label} about={about} problem={problems.find(({ pointer }) => pointer.startsWith(at))}>
      {(id) => (
        <>
          <input id={id} value={fields[name]} maxLength={200} placeholder={hint} onChange={({ target }) => set({ [name]: target.value })} />
          {unit && <span>{unit}</span>}
        </>
      )}
    </Field>
  );
  const tag = (name: "tag" | "againstTag") => (
    <Field label="Tag" about="">
      {(id) => (
        <>
          <select id={id} value={fields[name]} onChange={(event) => set({ [name]: event.target.value })}>
            <option value="">Any tag</option>
            {tags.map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </>
      )}
    </Field>
  );
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
      <div className="two">
        {text("search", kind === "comparison" ? "These runs" : "Runs", "/runs", "Name, number, p99>500ms, tag:name", study ? "of one study" : "empty: all succeeded runs")}
        {tag("tag")}
      </div>
      <p className="mut small" role="status" data-testid="asked-count">
        {unreadable ? "The selection cannot be read; Ask says why." : matching ? `${plural(matching.count, "succeeded run")} match; files of runs that an earlier question read are not read again.` : "Counting the runs"}
      </p>
      {kind === "comparison" && (
        <div className="two">
          {text("against", "Against these", "/against", "Name, number, per_s=1000", "the base")}
          {tag("againstTag")}
        </div>
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
      <div className="two even">
        {text("from", "From", "/span/from_s", "", "empty: the end of warm-up", "s")}
        {text("to", "To", "/span", "", "empty: the end of the run", "s")}
      </div>
    </FormDialog>
  );
}

interface Labelled {
  label: string;
  about: string;
  problem?: Problem | undefined;
  children: (id: string) => ReactNode;
}

function Field({ label, about, problem, children }: Labelled) {
  const id = useId();
  return (
    <div className={`field ${problem ? "err" : ""}`}>
      <label htmlFor={id}>
        {label}
        <i>{about}</i>
      </label>
      <div className="in">{children(id)}</div>
      {problem && <Remark text={problem.message} />}
    </div>
  );
}

function questionOf(kind: AnalysisKind, fields: Fields, study: string): object {
  const { search, tag, against, againstTag, from, to, metrics, metric, x, y, by } = fields;
  const of = study ? { study } : {};
  return {
    kind,
    runs: { search, tag, ...of },
    span: { from_s: seconds(from), to_s: seconds(to) },
    ...(kind === "comparison" ? { against: { search: against, tag: againstTag, ...of } } : {}),
    ...(kind === "surface" ? { x: x.trim(), y: y.trim(), metric: metric.trim() } : {}),
    ...(kind === "statistics" ? { by: by.trim() } : {}),
    ...(kind === "statistics" || kind === "comparison" ? { metrics: names(metrics) } : {}),
  };
}

/** Why it cannot be asked yet. */
function whyNot(kind: AnalysisKind, { from, to, x, y, by, metric, metrics, search, tag, against, againstTag }: Fields): string {
  for (const [name, text] of [["From", from], ["To", to]] as const)
    if (Number.isNaN(seconds(text) ?? 0)) return `${name} is “${text.trim()}”; enter a number of seconds, or leave it empty.`;
  if (kind === "surface" && !(x.trim() && y.trim())) return "Enter both parameters.";
  if (kind === "surface" && !metric.trim()) return "Enter a metric.";
  if (kind === "statistics" && !by.trim()) return "Enter what to group by: experiment, or a parameter.";
  if ((kind === "statistics" || kind === "comparison") && !names(metrics).length) return "Enter at least one metric.";
  if (kind === "comparison" && search.trim() === against.trim() && tag === againstTag) return "Both sides select the same runs; choose another base.";
  return "";
}
