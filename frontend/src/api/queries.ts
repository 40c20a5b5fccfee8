/** The server's state as TanStack queries; keys in one place, so that writers can invalidate readers. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { get, post } from "./client";
import type { RunsAsked } from "./analysis";
import type { ExperimentDocument } from "./document";
import type {
  Advice,
  AdviceQuestion,
  AdviceState,
  Analysis,
  AnalysisDetail,
  Asked,
  Baseline,
  CalibrationState,
  Comparison,
  Dataset,
  DatasetDetail,
  ExperimentRecord,
  ExperimentRow,
  Explained,
  FigureDetail,
  FigureItem,
  Frame,
  GroupPage,
  JsonSchema,
  LearnedModelsDetail,
  Learning,
  Lesson,
  LessonItem,
  Me,
  OpenPage,
  Question,
  RatePreview,
  Registry,
  Reproduction,
  Run,
  RunFields,
  RunPage,
  RunPoints,
  RunState,
  Saved,
  SelectionOfRuns,
  SparkRun,
  SparkRunDetail,
  SparkState,
  Study,
  StudyDetail,
  StudyOptimisation,
  StudyResults,
  StudySchema,
  Tag,
  Template,
  VersionDetail,
  VersionPage,
  View,
  Waterfall,
} from "./types";

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: () => get<Me>("/api/me"),
  staleTime: Infinity,
});
export const registryQuery = queryOptions({ queryKey: ["registry"], queryFn: () => get<Registry>("/api/registry"), staleTime: Infinity });
export const schemaQuery = queryOptions({ queryKey: ["schema"], queryFn: () => get<JsonSchema>("/api/schema"), staleTime: Infinity });
export const experimentsQuery = queryOptions({ queryKey: ["experiments"], queryFn: () => get<ExperimentRow[]>("/api/experiments") });
export const datasetsQuery = queryOptions({
  queryKey: ["datasets"],
  queryFn: () => get<Dataset[]>("/api/datasets"),
});

/** A data set with its first rows and how it was read; none of that ever changes. */
export const datasetQuery = (id: string) =>
  queryOptions({ queryKey: ["datasets", "one", id], queryFn: () => get<DatasetDetail>(`/api/datasets/${id}`), staleTime: Infinity });

/** How many experiments name each data set. */
export const datasetUsesQuery = queryOptions({
  queryKey: ["datasets", "uses"],
  queryFn: () => get<{ [name: string]: number }>("/api/datasets/uses"),
});

/** The rates of a document's sources over its horizon; only its workload matters for them. */
export const previewQuery = (document: ExperimentDocument) =>
  queryOptions({
    queryKey: ["preview", document.workload],
    queryFn: ({ signal }) => post<RatePreview>("/api/preview", { document }, signal),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    gcTime: 60_000,
    retry: false,
  });

/** How often it is asked whether there are models, as long as there are none: their process starts after the web server. */
const NO_MODELS_YET_MS = 30_000;

/** Whether placements can be suggested, and by which models. */
export const adviceStateQuery = queryOptions({
  queryKey: ["advice-state"],
  queryFn: ({ signal }) => get<AdviceState>("/api/advice", signal),
  staleTime: 30_000,
  refetchInterval: ({ state }) => (state.data?.available ? false : NO_MODELS_YET_MS),
});

/** Corpora and learned models, and the jobs that make them. */
export const learningQuery = queryOptions({ queryKey: ["learning"], queryFn: ({ signal }) => get<Learning>("/api/learning", signal) });

/** Learned models of a name, with the course of their training. */
export const learnedModelsQuery = (name: string) =>
  queryOptions({
    queryKey: ["learned-models", name],
    queryFn: ({ signal }) => get<LearnedModelsDetail>(`/api/learning/models/${encodeURIComponent(name)}`, signal),
  });

/** Suggested placements of a document. number: of the document that was asked about; it stands for it in the key. */
export const adviceQuery = (number: number, document: ExperimentDocument, question: AdviceQuestion) =>
  queryOptions({
    queryKey: ["advice", number, question],
    queryFn: ({ signal }) => post<Advice>("/api/advice", { document, ...question }, signal),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 300_000,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

/** The last write of an experiment's document; reading one waits for it, so that nobody is shown the state before their own edit. */
export const experimentWrites = { last: Promise.resolve() };

export const experimentQuery = (id: string) =>
  queryOptions({
    queryKey: ["experiment", id],
    queryFn: () => experimentWrites.last.then(() => get<ExperimentRecord>(`/api/experiments/${id}`)),
    // The editor owns the document once it is open; a refetch must never replace what is being edited.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

/** Who saved the newest version; the news keep it up to date. Null for an experiment of which no version was kept yet. */
export const savedQuery = (id: string) =>
  queryOptions({
    queryKey: ["experiment-saved", id],
    queryFn: async () => (await get<VersionPage>(`/api/experiments/${id}/versions?limit=1`)).items[0] as Saved | undefined ?? null,
    staleTime: Infinity,
    gcTime: 0,
  });

/** Who has the experiment open, as the news tell it. */
export const presenceQuery = (id: string) =>
  queryOptions({ queryKey: ["presence", id], queryFn: (): OpenPage[] => [], staleTime: Infinity, gcTime: 0 });

export const VERSIONS_PER_PAGE = 50;
export const versionsQuery = (id: string, limit: number) =>
  queryOptions({
    queryKey: ["versions", id, limit],
    queryFn: () => experimentWrites.last.then(() => get<VersionPage>(`/api/experiments/${id}/versions?limit=${limit}`)),
    placeholderData: keepPreviousData,
  });
export const versionQuery = (id: string, number: number) =>
  queryOptions({ queryKey: ["version", id, number], queryFn: () => get<VersionDetail>(`/api/experiments/${id}/versions/${number}`), retry: false });

export const templatesQuery = queryOptions({ queryKey: ["templates"], queryFn: () => get<Template[]>("/api/templates"), staleTime: Infinity });
export const tagsQuery = queryOptions({ queryKey: ["tags"], queryFn: () => get<Tag[]>("/api/tags") });

export const baselinesQuery = queryOptions({ queryKey: ["baselines"], queryFn: () => get<Baseline[]>("/api/baselines") });

export const viewsQuery = queryOptions({ queryKey: ["views"], queryFn: () => get<View[]>("/api/views") });

/** Which runs: the same for the list, the groups and the pictures. */
export interface WhichRuns {
  state: string;
  search: string;
  experiment: string;
  tag: string;
  /** Id of the study that needed them. */
  study: string;
  /** "1": those that studies made, too. */
  of_studies: string;
}

export interface RunFilter extends WhichRuns {
  /** As the API takes it: a column, with a minus before it for the other direction. */
  sort: string;
  offset: number;
  /** Further fields whose values the list shows. */
  values: readonly string[];
}

const WHICH = ["state", "search", "experiment", "tag", "study", "of_studies"] as const;

/** What an address says about which runs there are. */
export const whichOf = (url: WhichRuns): WhichRuns => Object.fromEntries(WHICH.map((name) => [name, url[name]])) as unknown as WhichRuns;

const whichGiven = (which: Partial<WhichRuns>) =>
  WHICH.flatMap((name) => (which[name] ? [[name, which[name]] as [string, string]] : []));

export const RUNS_PER_PAGE = 50;

export const runsQuery = (filter: Partial<RunFilter>) =>
  queryOptions({
    queryKey: ["runs", filter],
    queryFn: async ({ signal }): Promise<Asked<RunPage>> => {
      const { values: asked = [] } = filter;
      const query = new URLSearchParams({ limit: String(RUNS_PER_PAGE), offset: String(filter.offset ?? 0) });
      for (const [name, value] of whichGiven(filter)) query.set(name, value);
      if (filter.sort) query.set("sort", filter.sort);
      for (const name of asked) query.append("value", name);
      return { ...(await get<RunPage>(`/api/runs?${query}`, signal)), asked };
    },
    placeholderData: keepPreviousData,
  });

export const GROUPS_PER_PAGE = 100;

/** The runs in groups by one or two fields, with measures of each. */
export const groupsQuery = (which: WhichRuns, by: readonly string[], measures: readonly string[], sort: string, offset: number) =>
  queryOptions({
    queryKey: ["run-groups", which, by, measures, sort, offset],
    queryFn: ({ signal }) => {
      const named = [...by.map((name) => ["by", name]), ...measures.map((name) => ["measure", name])] as [string, string][];
      const page = [["sort", sort], ["limit", String(GROUPS_PER_PAGE)], ["offset", String(offset)]] as [string, string][];
      return get<GroupPage>(`/api/runs/groups?${new URLSearchParams([...whichGiven(which), ...named, ...page])}`, signal);
    },
    enabled: by.length > 0,
    placeholderData: keepPreviousData,
  });

/** More points than that take long to draw. */
export const DRAWN_RUNS_MAX = 5000;

/** Fields of the newest runs, as columns. */
export const pointsQuery = (which: WhichRuns, fields: readonly string[]) =>
  queryOptions({
    queryKey: ["run-points", which, fields],
    queryFn: async ({ signal }): Promise<Asked<RunPoints>> => {
      const named = fields.map((name) => ["field", name] as [string, string]);
      const query = new URLSearchParams([...whichGiven(which), ...named, ["limit", String(DRAWN_RUNS_MAX)]]);
      return { ...(await get<RunPoints>(`/api/runs/points?${query}`, signal)), asked: fields };
    },
    enabled: fields.length > 0,
    placeholderData: keepPreviousData,
  });

/** The server lists no more metrics, and no more parameters. */
export const LISTED_FIELDS_MAX = 50;

/** Names of fields that contain a text; of parameters only those that differ between runs, if asked so. */
export const runFieldsQuery = (search: string, varying = false) =>
  queryOptions({
    queryKey: ["run-fields", search, varying],
    queryFn: ({ signal }) => get<RunFields>(`/api/runs/fields?${new URLSearchParams({ search, ...(varying ? { varying: "true" } : {}) })}`, signal),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });

export const runQuery = (id: string) =>
  queryOptions({ queryKey: ["run", id], queryFn: () => get<Run>(`/api/runs/${id}`), staleTime: Infinity });

/** Runs against the first of them, over the seeds that the lab has of each. */
export const comparisonQuery = (ids: readonly string[], metrics: readonly string[]) =>
  queryOptions({
    queryKey: ["compare", ...ids, metrics.join()],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams([...ids.map((id) => ["run", id]), ...metrics.map((metric) => ["metric", metric])]);
      return get<Comparison>(`/api/compare?${query}`, signal);
    },
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });

export const notesQuery = (run: string) =>
  queryOptions({ queryKey: ["notes", run], queryFn: () => get<{ notes: string }>(`/api/runs/${run}/notes`) });

/** What forms of studies are drawn from. */
export const studySchemaQuery = queryOptions({
  queryKey: ["study-schema"],
  queryFn: () => get<StudySchema>("/api/studies/schema"),
  staleTime: Infinity,
});

export const STUDIES_PER_PAGE = 50;

export const studiesQuery = (offset: number) =>
  queryOptions({
    queryKey: ["studies", offset],
    queryFn: ({ signal }) => get<{ items: Study[]; count: number }>(`/api/studies?limit=${STUDIES_PER_PAGE}&offset=${offset}`, signal),
    placeholderData: keepPreviousData,
  });

export const studyQuery = (id: string) =>
  queryOptions({ queryKey: ["study", id], queryFn: () => get<StudyDetail>(`/api/studies/${id}`), staleTime: Infinity });

export const ANALYSES_PER_PAGE = 50;

/** The key is the path of the list, by which deletions find it. */
export const analysesQuery = (offset: number) =>
  queryOptions({
    queryKey: ["spark/jobs", offset],
    queryFn: ({ signal }) =>
      get<{ items: Analysis[]; count: number; spark: SparkState }>(`/api/spark/jobs?limit=${ANALYSES_PER_PAGE}&offset=${offset}`, signal),
    placeholderData: keepPreviousData,
  });

/** More rows than that no page shows. */
export const ANSWER_ROWS_MAX = 1000;

export const analysisQuery = (id: string) =>
  queryOptions({ queryKey: ["analysis", id], queryFn: () => get<AnalysisDetail>(`/api/spark/jobs/${id}?limit=${ANSWER_ROWS_MAX}`), staleTime: Infinity });

/** What a question would read. */
export const selectionQuery = (asked: { runs: RunsAsked; against?: RunsAsked; span: object }) =>
  queryOptions({
    queryKey: ["selection", asked],
    queryFn: ({ signal }) => post<SelectionOfRuns>("/api/spark/selection", asked, signal),
    placeholderData: keepPreviousData,
    retry: false,
  });

const POINTS_PER_PAGE = 250;
/** More points than that no chart shows. */
export const POINTS_MAX = 5000;

/** What was found at the first points of a study, with these metrics. */
export const studyResultsQuery = (id: string, metrics: readonly string[]) =>
  queryOptions({
    queryKey: ["study-results", id, metrics],
    queryFn: async ({ signal }) => {
      const all: StudyResults = { points: [], found: [], count: 0 };
      for (let offset: number | null = 0; offset !== null && offset < POINTS_MAX; ) {
        const query = new URLSearchParams([...metrics.map((name) => ["metric", name]), ["limit", String(POINTS_PER_PAGE)], ["offset", String(offset)]]);
        const page: StudyResults & { next: number | null } = await get(`/api/studies/${id}/results?${query}`, signal);
        all.points.push(...page.points);
        all.found.push(...page.found);
        all.count = page.count;
        offset = page.next;
      }
      return all;
    },
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });

/** What an optimisation tried so far. */
export const studyOptimisationQuery = (id: string, enabled: boolean) =>
  queryOptions({
    queryKey: ["study-optimisation", id],
    queryFn: () => get<StudyOptimisation>(`/api/studies/${id}/optimisation`),
    enabled,
    staleTime: Infinity,
  });

/** What was asked about a run's records, the newest first. */
export const questionsQuery = (run: string, enabled: boolean) =>
  queryOptions({ queryKey: ["waterfalls", run], queryFn: () => get<Question[]>(`/api/runs/${run}/waterfalls`), enabled });

/** One question with its answer, once a worker has found it. */
export const answerQuery = (run: string, id: string) =>
  queryOptions({
    queryKey: ["waterfalls", run, id],
    queryFn: () => get<Question & { waterfalls: Waterfall[] | null }>(`/api/runs/${run}/waterfalls/${id}`),
    enabled: id !== "",
    staleTime: Infinity,
  });

/** How often a run's query was executed on Spark, the newest first. */
export const sparkRunsQuery = (run: string) => queryOptions({ queryKey: ["spark-runs", run], queryFn: () => get<SparkRun[]>(`/api/runs/${run}/spark`) });

/** One execution on Spark with its micro-batches, and the comparison once there is one. */
export const sparkRunQuery = (run: string, id: string) =>
  queryOptions({
    queryKey: ["spark-runs", run, id],
    queryFn: () => get<SparkRunDetail>(`/api/runs/${run}/spark/${id}`),
    enabled: id !== "",
    staleTime: Infinity,
  });

/** What micro-batches take on the machine of the analysis worker, and the measurement that the lab asked for last. */
export const calibrationQuery = queryOptions({ queryKey: ["spark-calibration"], queryFn: () => get<CalibrationState>("/api/spark/calibration") });

const FRAMES_PER_PAGE = 1000;

/** All frames of a run that has ended. Those of one that goes on are followed instead. */
export const framesQuery = (run: Pick<Run, "id" | "state">) =>
  queryOptions({
    queryKey: ["frames", run.id],
    enabled: !isActive(run),
    queryFn: async ({ signal }) => {
      const frames: Frame[] = [];
      for (;;) {
        const path = `/api/runs/${run.id}/frames?after=${frames.length - 1}&limit=${FRAMES_PER_PAGE}`;
        const page = await get<{ frames: Frame[]; next: number | null }>(path, signal);
        frames.push(...page.frames);
        if (page.next === null || page.frames.length < FRAMES_PER_PAGE) return frames;
      }
    },
    staleTime: Infinity,
  });

export const lessonsQuery = queryOptions({ queryKey: ["lessons"], queryFn: () => get<LessonItem[]>("/api/lessons"), staleTime: Infinity });

/** A lesson with the steps of its cases. */
export const lessonQuery = (id: string) =>
  queryOptions({ queryKey: ["lessons", id], queryFn: () => get<Lesson>(`/api/lessons/${encodeURIComponent(id)}`), staleTime: Infinity, enabled: id !== "" });

/** How the line of a recovery was found, step by step. */
export const recoveryQuery = (run: string, epoch: string) =>
  queryOptions({
    queryKey: ["recovery", run, epoch],
    queryFn: () => get<Explained>(`/api/runs/${run}/recoveries/${encodeURIComponent(epoch)}`),
    staleTime: Infinity,
  });

export const figuresQuery = queryOptions({ queryKey: ["figures"], queryFn: () => get<FigureItem[]>("/api/figures") });

/** A figure with its result at a scale; without one at the largest scale at which there is one. */
export const figureQuery = (id: string, scale: string) =>
  queryOptions({
    queryKey: ["figure", id, scale],
    queryFn: () => get<FigureDetail>(`/api/figures/${id}${scale ? `?scale=${scale}` : ""}`),
    placeholderData: keepPreviousData,
  });

export const reproductionsQuery = (figure: string) =>
  queryOptions({ queryKey: ["reproductions", figure], queryFn: () => get<Reproduction[]>(`/api/figures/${figure}/reproductions`) });

/** It has not ended. */
export function isActive(run: { state: RunState }): boolean {
  return run.state === "queued" || run.state === "running" || run.state === "paused";
}

/** It goes on by itself. */
export const isMoving = (run: Pick<Run, "state">) => isActive(run) && run.state !== "paused";
