import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { Link, useNavigate } from "react-router";
import { ApiError, post } from "../../api/client";
import type { Json, JsonSchema, Kind, Problem, StudyDetail, StudySchema, Tagged } from "../../api/types";
import { download, fileName } from "../../lib/save";
import { isError } from "../../model/document/validate";
import { fieldsOf, loadAxis, newAxis } from "../../model/study/fields";
import { isDrawn, isOptimised, loadOf, seedsOf, type Axis, type StudyDocument } from "../../model/study/study";
import { useCommands, type Command } from "../../session/commands";
import { useRefusal } from "../../session/who";
import { Remarks } from "../../ui/form/fields";
import { KindForm } from "../../ui/form/KindForm";
import { SchemaForm } from "../../ui/form/SchemaForm";
import { Icon } from "../../ui/Icon";
import { toast } from "../../ui/toasts";
import { TopBar } from "../../ui/TopBar";
import { AxisCard } from "./AxisCard";
import { Crumb } from "./Crumb";
import { FieldPicker } from "./FieldPicker";
import { ImportStudy } from "./ImportStudy";
import { offerListEditors } from "./ListEditor";
import { MetricNames, offerMetricEditor } from "./MetricEditor";
import { keepStudyDraft, studyDraftOf, type Draft, type Origin } from "./origin";
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

const SEED_COUNTS = [1, 3, 5, 10];
type Fields = { [field: string]: Json };

/** A study before it starts. What is chosen is checked by the server as it changes, and kept in this browser. */
export function StudyEditor({
  named,
  origin,
  schema,
  experimentSchema,
  operators,
  onLeaveFile,
}: {
  named: { kind: string; id: string } | null;
  origin: Origin;
  schema: StudySchema;
  experimentSchema: JsonSchema;
  operators: ReadonlyMap<string, Kind>;
  /** What came from a file is given up. */
  onLeaveFile: () => void;
}) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => studyDraftOf(named) ?? firstDraft(named, origin));
  const study = useMemo((): StudyDocument => ({ ...draft, experiment: draft.experiment ?? origin.study.experiment }), [draft, origin]);
  const { checked, fresh, lost } = useChecked(study);
  const problems = useMemo(() => checked?.problems ?? [], [checked]);
  const errors = problems.filter(isError);
  const fields = useMemo(() => fieldsOf(study.experiment, experimentSchema, operators), [study.experiment, experimentSchema, operators]);
  const measured = useMemo(() => [...(study.axes ?? []).map(({ name }) => name), ...(checked?.metrics ?? [])], [study.axes, checked]);
  const [adding, setAdding] = useState(false);
  useEffect(() => keepStudyDraft(named, draft), [named, draft]);
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));

  const axes = study.axes ?? [];
  const load = loadOf(study);
  const names = [...axes, ...(load ? [load] : [])].map(({ name }) => name);
  const axisSchema = useMemo(() => partOf(schema.document, "Axis"), [schema]);
  const draws = isDrawn(study);
  const valueKinds = schema.values.filter(({ kind }) => kind !== "between" || draws);

  const start = useMutation({
    mutationFn: () => post<StudyDetail>("/api/studies", { document: study, experiment: origin.experiment }),
    onSuccess: (made) => {
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
  const why = refusal ?? whyNot({ errors, fresh, lost, starting: start.isPending, asks });
  const begin = () => {
    if (errors[0] && fresh && !refusal) return show(errors[0].pointer);
    if (!why) start.mutate();
  };
  const replace = (next: StudyDocument) => {
    setDraft(next);
    toast(`Taken: ${next.name || "a study without a name"}.`, { seconds: 4 });
  };
  const startOver = () => {
    const before = draft;
    keepStudyDraft(named, null);
    if (!named) return onLeaveFile();
    setDraft(firstDraft(named, origin));
    toast("What was chosen is given up.", { action: { label: "Undo", run: () => setDraft(before) }, seconds: 10 });
  };
  const saveYaml = async () => {
    const { writeStudy } = await import("../../model/study/files");
    download(new Blob([writeStudy(study)], { type: "application/yaml" }), fileName(study.name ?? "", "yaml", "study"));
  };
  useCommands("new study", COMMANDS);

  const setAxis = (at: number, axis: Axis) => change({ axes: axes.map((one, index) => (index === at ? axis : one)) });
  return (
    <div className="page on-studies">
      <TopBar
        title="New study"
        crumb={<Crumb />}
        actions={
          <>
            <button className="btn" title="Give up what was chosen here" onClick={startOver}>
              <Icon name="restore" />
              Start over
            </button>
            <ImportStudy onImport={replace} />
            <button className="btn" title="Keep it as YAML" onClick={() => void saveYaml()}>
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
          <section className="panel editor-part" aria-label="Name">
            <SchemaForm
              schema={schema.document}
              value={{ name: study.name ?? "", ...(study.description ? { description: study.description } : {}) }}
              pointer=""
              problems={problems}
              only={["name", "description"]}
              idPrefix="study"
              onChange={(value) => change({ name: "", description: "", ...value })}
            />
            <p className="mut small">
              Of{" "}
              {origin.experiment ? <Link to={`/experiments/${origin.experiment}`}>{experimentName(study)}</Link> : <b>{experimentName(study)}</b>}, as it
              is now; the study keeps a copy of it.
            </p>
            <Remarks problems={problems.filter(({ pointer }) => pointer === "" || pointer === "/experiment")} />
          </section>
          <section className="panel editor-part" aria-label="What is varied" data-pointer="/axes">
            <header className="part-head">
              <h2>What is varied</h2>
              <span className="mut small">Each axis sets fields of the experiment to its values, one after the other.</span>
              <span className="grow" />
              <button className="btn" onClick={() => setAdding(true)} data-command="add-axis" data-testid="add-axis" title="Add an axis (A)">
                <Icon name="plus" small />
                Add an axis
              </button>
            </header>
            <Remarks problems={problems.filter(({ pointer }) => pointer === "/axes")} />
            {!axes.length && <p className="mut small">Nothing yet. Without an axis the experiment is run as it is, once with each seed.</p>}
            {axes.map((axis, at) => (
              <AxisCard
                key={at}
                axis={axis}
                pointer={`/axes/${at}`}
                title={`Axis ${at + 1}`}
                schema={axisSchema}
                kinds={axis.values?.kind === "between" ? schema.values : valueKinds}
                fields={fields}
                problems={problems}
                onChange={(next) => setAxis(at, next)}
                onRemove={() => change({ axes: axes.filter((_, index) => index !== at) })}
              />
            ))}
            {axes.length > 0 && (
              <div className={`design ${isOptimised(study) ? "wide" : ""}`} data-pointer="/design">
                <MetricNames value={measured}>
                  <KindForm
                    label="Design"
                    kinds={schema.designs}
                    value={study.design ?? { kind: "grid" }}
                    pointer="/design"
                    problems={problems}
                    onChange={(design) => change({ design: complete(design) })}
                  />
                </MetricNames>
              </div>
            )}
          </section>
          <section className="panel editor-part" aria-label="Seeds">
            <header className="part-head">
              <h2>Seeds</h2>
              <span className="mut small">Several seeds show how much is chance: figures get an interval.</span>
              <span className="grow" />
              <div className="seg" role="radiogroup" aria-label="How many seeds">
                {SEED_COUNTS.map((count) => (
                  <label key={count}>
                    <input
                      type="radio"
                      name="seeds"
                      checked={isFirst(seedsOf(study), count)}
                      onChange={() => change({ seeds: Array.from({ length: count }, (_, at) => at + 1) })}
                    />
                    {count}
                  </label>
                ))}
              </div>
            </header>
            <SchemaForm
              schema={schema.document}
              value={{ seeds: seedsOf(study) }}
              pointer=""
              problems={problems.map(upTo("/seeds"))}
              only={["seeds"]}
              idPrefix="study-seeds"
              onChange={(value) => change({ seeds: (value.seeds as number[] | undefined) ?? [] })}
            />
          </section>
          <section className="panel editor-part" aria-label="Search">
            <header className="part-head">
              <h2>Search</h2>
              <span className="mut small">At each point, the largest load that the system carries for ever.</span>
            </header>
            <KindForm
              label="Search"
              bare
              kinds={schema.searches}
              value={(study.search as Tagged | undefined) ?? { kind: "none" }}
              pointer="/search"
              problems={problems.map(upTo("/search/shares"))}
              omit={["load", "sustained"]}
              onChange={(search) =>
                change({ search: search.kind === "sustainable" && !("load" in search) ? { ...search, load: loadAxis(fields) } : search })
              }
            />
            {load && study.search && (
              <>
                <AxisCard
                  axis={load}
                  pointer="/search/load"
                  title="Load"
                  schema={axisSchema}
                  kinds={schema.values.filter(({ kind }) => kind === "between")}
                  fields={fields}
                  problems={problems}
                  onChange={(next) => study.search && change({ search: { ...study.search, load: next } })}
                />
                <details className="verdict-limits">
                  <summary>When a load counts as sustained</summary>
                  <SchemaForm
                    schema={partOf(schema.document, "Sustained")}
                    value={(study.search.sustained as Fields | undefined) ?? {}}
                    pointer="/search/sustained"
                    problems={problems}
                    onChange={(sustained) => study.search && change({ search: { ...study.search, sustained } })}
                  />
                </details>
              </>
            )}
          </section>
          <section className="panel editor-part" aria-label="Execution">
            <header className="part-head">
              <h2>Execution</h2>
            </header>
            <SchemaForm
              schema={schema.document}
              value={study.executor ? { executor: study.executor } : {}}
              pointer=""
              problems={problems}
              only={["executor"]}
              idPrefix="study-execution"
              onChange={({ executor }) => change({ executor: executor === "spark" ? "spark" : "workers" })}
            />
          </section>
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

const POINTS_FIRST = 20;
const TRIALS_FIRST = 40;

/** A design that draws needs to know how often, one that optimises also for what. */
function complete(design: Tagged): Tagged {
  if (design.kind === "optimise")
    return {
      ...design,
      trials: design.trials ?? TRIALS_FIRST,
      objectives: Array.isArray(design.objectives) && design.objectives.length ? design.objectives : [{ metric: "latency_ms.p99" }],
    };
  const draws = design.kind === "random" || design.kind === "latin_hypercube";
  return draws && design.points === undefined ? { ...design, points: POINTS_FIRST } : design;
}

const experimentName = (study: StudyDocument) => {
  const name = (study.experiment as { name?: unknown } | null)?.name;
  return typeof name === "string" && name ? name : "an experiment without a name";
};

/** What another study says is taken with its experiment; otherwise the experiment is the origin's, as it is when the study starts. */
function firstDraft(named: { kind: string; id: string } | null, { study }: Origin): Draft {
  if (!named || named.kind === "study") return study;
  const { experiment: _, ...draft } = study;
  return draft;
}

/** What is wrong with an entry of a list that is edited in one line stands at the list. */
const upTo =
  (list: string) =>
  (problem: Problem): Problem =>
    problem.pointer.startsWith(`${list}/`) ? { ...problem, pointer: list } : problem;

const isFirst = (seeds: readonly number[], count: number) => seeds.length === count && seeds.every((seed, at) => seed === at + 1);

function partOf(schema: JsonSchema, name: string): JsonSchema {
  const parts = schema.$defs as { [name: string]: JsonSchema } | undefined;
  return { ...(parts?.[name] ?? {}), $defs: schema.$defs ?? {} };
}

function whyNot({
  errors,
  fresh,
  lost,
  starting,
  asks,
}: {
  errors: Problem[];
  fresh: boolean;
  lost: string;
  starting: boolean;
  asks: boolean;
}): string {
  if (starting) return "Starting";
  if (lost) return `It could not be checked: ${lost}`;
  if (!fresh) return "Being checked";
  if (errors[0]) return `Cannot start yet: ${errors[0].message} Click to go there.`;
  return asks ? "" : "This would be a single run: add an axis, more seeds, or a search";
}

