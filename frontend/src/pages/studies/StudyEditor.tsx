import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { ApiError, post } from "../../api/client";
import type { JsonSchema, Kind, StudyDetail, StudySchema } from "../../api/types";
import { download, fileName } from "../../lib/save";
import { isError } from "../../model/document/validate";
import { firstDraft, whyNot, type Draft } from "../../model/study/draft";
import { fieldsOf, newAxis } from "../../model/study/fields";
import { loadOf, seedsOf, type StudyDocument } from "../../model/study/study";
import { useCommands, type Command } from "../../session/commands";
import { useRefusal } from "../../session/who";
import { Icon } from "../../ui/Icon";
import { useUnreadFields } from "../../ui/NumberInput";
import { toast } from "../../ui/toasts";
import { TopBar } from "../../ui/TopBar";
import { Crumb } from "./Crumb";
import { ExecutionPart } from "./editor/ExecutionPart";
import { NamePart } from "./editor/NamePart";
import { SearchPart } from "./editor/SearchPart";
import { SeedsPart } from "./editor/SeedsPart";
import { VariedPart } from "./editor/VariedPart";
import { FieldPicker } from "./FieldPicker";
import { ImportStudy } from "./ImportStudy";
import { offerListEditors } from "./ListEditor";
import { offerMetricEditor } from "./MetricEditor";
import { keepStudyDraft, studyDraftOf, type Origin } from "./origin";
import { Overview } from "./Overview";
import { show } from "./show";
import { useChecked } from "./useChecked";

offerListEditors();
offerMetricEditor();

const click = (command: string) => document.querySelector<HTMLButtonElement>(`[data-command="${command}"]`)?.click();
const COMMANDS: readonly Command[] = [
  { group: "Study", needs: "write", does: "Start the study", keys: ["Ctrl+Enter"], run: () => click("start-study"), whileTyping: true },
  { group: "Study", does: "Add an axis", keys: ["A"], run: () => click("add-axis") },
];

/** A study before it starts. What is chosen is checked by the server as it changes, and kept in this browser. */
export function StudyEditor({
  named,
  origin,
  schema,
  experimentSchema,
  operators,
  engines,
  onLeaveFile,
}: {
  named: { kind: string; id: string } | null;
  origin: Origin;
  schema: StudySchema;
  experimentSchema: JsonSchema;
  operators: ReadonlyMap<string, Kind>;
  engines: readonly Kind[];
  /** What came from a file is given up. */
  onLeaveFile: () => void;
}) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => studyDraftOf(named) ?? firstDraft(named, origin.study));
  const study = useMemo((): StudyDocument => ({ ...draft, experiment: draft.experiment ?? origin.study.experiment }), [draft, origin]);
  const { checked, fresh, lost } = useChecked(study);
  const problems = useMemo(() => checked?.problems ?? [], [checked]);
  const errors = problems.filter(isError);
  const fields = useMemo(() => fieldsOf(study.experiment, experimentSchema, operators), [study.experiment, experimentSchema, operators]);
  const measured = useMemo(() => [...(study.axes ?? []).map(({ name }) => name), ...(checked?.metrics ?? [])], [study.axes, checked]);
  const [adding, setAdding] = useState(false);
  const started = useRef(false);
  useEffect(() => {
    if (!started.current) keepStudyDraft(named, draft); // each time the page is drawn: also while the study starts, and after
  }, [named, draft]);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));

  const axes = study.axes ?? [];
  const load = loadOf(study);
  const names = [...axes, ...(load ? [load] : [])].map(({ name }) => name);

  const start = useMutation({
    mutationFn: () => post<StudyDetail>("/api/studies", { document: study, experiment: origin.experiment }),
    onSuccess: (made) => {
      started.current = true;
      keepStudyDraft(named, null);
      void client.invalidateQueries({ queryKey: ["studies"] });
      void navigate(`/studies/${made.id}`);
    },
    onError: (error) => {
      const first = error instanceof ApiError ? error.problems.find(isError) : undefined;
      toast(first ? `${error.message}: ${first.message}` : error.message, { tone: "err" });
    },
  });
  const asks = axes.length > 0 || load !== null || seedsOf(study).length > 1;
  const refusal = useRefusal();
  const [unread] = useUnreadFields("document");
  const unreadSays = unread ? `Cannot start yet: ${unread.label}: ${unread.problem} Click to go there.` : "";
  const why = refusal ?? (unreadSays || whyNot({ errors, fresh, lost, starting: start.isPending, asks }));
  const begin = () => {
    const first = unread ?? (fresh ? errors[0] : undefined);
    if (first && !refusal) return show(first.pointer);
    if (!why) start.mutate();
  };
  const replace = (next: StudyDocument) => {
    setDraft(next);
    toast(`Imported ${next.name || "a study without a name"}.`, { seconds: 4 });
  };
  const startOver = () => {
    const before = draft;
    keepStudyDraft(named, null);
    if (!named) return onLeaveFile();
    setDraft(firstDraft(named, origin.study));
    toast("Choices discarded.", { action: { label: "Undo", run: () => setDraft(before) }, seconds: 10 });
  };
  const saveYaml = async () => {
    const { writeStudy } = await import("../../model/study/files");
    download(new Blob([writeStudy(study)], { type: "application/yaml" }), fileName(study.name ?? "", "yaml", "study"));
  };
  useCommands("new study", COMMANDS);
  const part = { study, schema, problems, change };

  return (
    <div className="page on-studies">
      <TopBar
        title="New study"
        crumb={<Crumb />}
        actions={
          <>
            <button className="btn" title="Discard all choices" onClick={startOver}>
              <Icon name="restore" />
              Start over
            </button>
            <ImportStudy onImport={replace} />
            <button className="btn" title="Save it as YAML" onClick={() => void saveYaml()}>
              <Icon name="export" />
              Export
            </button>
            <button
              className="btn primary"
              data-command="start-study"
              data-testid="start-study"
              aria-disabled={Boolean(why)}
              title={why || "Start (Ctrl+Enter)"}
              onClick={begin}
            >
              <Icon name="play" />
              Start
            </button>
          </>
        }
      />
      <div className="study-editor" data-testid="study-editor">
        <div className="scroll editor-form" tabIndex={-1}>
          <NamePart {...part} experiment={origin.experiment} />
          <VariedPart {...part} fields={fields} measured={measured} engines={engines} onAdd={() => setAdding(true)} />
          <SeedsPart {...part} />
          <SearchPart {...part} fields={fields} />
          <ExecutionPart {...part} />
        </div>
        <Overview study={study} checked={checked} fresh={fresh} lost={lost} why={why} experiment={origin.experiment} />
      </div>
      {adding && (
        <FieldPicker
          fields={fields}
          chosen={[]}
          onClose={() => setAdding(false)}
          onChoose={(pointers) => {
            setAdding(false);
            const chosen = pointers.flatMap((pointer) => fields.find((field) => field.pointer === pointer) ?? []);
            change({ axes: [...axes, newAxis(chosen, names)] });
          }}
        />
      )}
    </div>
  );
}
