/** What changes among the lab's runs, experiments, questions, studies and figures, put into the queries that show it. */
import type { QueryClient } from "@tanstack/react-query";
import { tellOpened } from "./opened";
import { isActive } from "./queries";
import { LiveSocket } from "./socket";
import type { Analysis, AnalysisDetail, CalibrationJob, CalibrationState, ExperimentNews, ExperimentRow, FigureItem, Learning, LearningJob, NewsMessage, OpenPage, Question, Reproduction, Run, RunState, Saved, SparkRun, SparkRunDetail, Study, StudyDetail, Waterfall } from "./types";

type Page<Item> = { items: Item[]; count: number };
/** A study's results are read this long after the first of its runs that ended; with what ended meanwhile. */
const RESULTS_MS = 1000;

/** Groups and pictures of many runs are read this long after one of these has changed. */
const ANSWERS_MS = 2000;

type Answer = Question & { waterfalls: Waterfall[] | null };

/** Follows the news until it is stopped. Without a connection nothing is told; with the next one all that is shown is read anew. */
export function followNews(client: QueryClient): () => void {
  const states = new Map<string, RunState>();
  const notes = new Map<string, string>();
  const anew = (...names: string[]) => names.forEach((name) => void client.invalidateQueries({ queryKey: [name] }));
  const socket = new LiveSocket<NewsMessage>({
    path: () => "/ws/news",
    onMessage: (message) => {
      if (message.type === "ready") anew("runs", "run-groups", "run-points", "run", "compare", "baselines", "notes", "tags", "waterfalls", "studies", "study", "study-results", "study-optimisation", "figures", "figure", "reproductions", "spark/jobs", "spark-runs", "spark-calibration", "analysis", "learning", "learned-models", "experiments", "experiment-saved", "versions");
      if (message.type === "ready") tellOpened((told) => socket.send(told));
      if (message.type === "experiments") takeExperiments(client, message.experiments);
      if (message.type === "presences") message.presences.forEach(({ id, pages }) => client.setQueryData<OpenPage[]>(["presence", id], pages));
      if (message.type === "lists") anew("runs", "run-groups", "run-points", "compare", "baselines", "tags", "experiments", "waterfalls", "studies", "spark/jobs", "spark-runs");
      if (message.type === "runs") takeRuns(message.runs);
      if (message.type === "questions") message.questions.forEach((question) => takeQuestion(client, question));
      if (message.type === "studies") takeStudies(message.studies);
      if (message.type === "analyses") message.analyses.forEach((analysis) => takeAnalysis(client, analysis));
      if (message.type === "spark_runs") message.spark_runs.forEach((row) => takeSparkRun(client, row));
      if (message.type === "calibrations") message.calibrations.forEach((job) => takeCalibration(client, job));
      if (message.type === "learning_jobs") message.learning_jobs.forEach((job) => takeLearningJob(client, job));
      if (message.type === "reproductions") message.reproductions.forEach((row) => takeReproduction(client, row));
    },
    onRefused: () => undefined,
    onTrouble: () => undefined,
  });

  let answersAt: ReturnType<typeof setTimeout> | undefined;
  const readAnswers = () => {
    answersAt ??= setTimeout(() => {
      answersAt = undefined;
      anew("run-groups", "run-points");
    }, ANSWERS_MS);
  };

  const takeRuns = (runs: Run[]) => {
    const byId = new Map(runs.map((run) => [run.id, run]));
    client.setQueriesData<Page<Run>>({ queryKey: ["runs"] }, (page) => page && { ...page, items: page.items.map((run) => byId.get(run.id) ?? run) });
    for (const run of runs) client.setQueryData<Run>(["run", run.id], (known) => known && { ...known, ...run });
    // Only how notes begin is told: of a run that says something else than before they are read.
    for (const { id, said = "" } of runs) {
      if (notes.get(id) !== said) void client.invalidateQueries({ queryKey: ["notes", id] });
      notes.set(id, said);
    }
    // A run that is new, or in another state, may have another place in a list, or none.
    if (runs.some((run) => states.get(run.id) !== run.state)) {
      anew("runs", "compare", "figure");
      readAnswers();
    }
    for (const run of runs) states.set(run.id, run.state);
  };

  /** Studies whose results are read anew, now or in a moment; true: and once more after that. */
  const reading = new Map<string, boolean>();
  const readResults = (id: string) => {
    if (reading.has(id)) return void reading.set(id, true);
    reading.set(id, false);
    setTimeout(async () => {
      reading.set(id, false);
      await Promise.all(["study", "study-results", "study-optimisation"].map((name) => client.invalidateQueries({ queryKey: [name, id] })));
      const again = reading.get(id);
      reading.delete(id);
      if (again) readResults(id);
    }, RESULTS_MS);
  };
  const takeStudies = (studies: Study[]) => {
    const byId = new Map(studies.map((study) => [study.id, study]));
    client.setQueriesData<Page<Study>>(
      { queryKey: ["studies"] },
      (page) => page && { ...page, items: page.items.map((study) => byId.get(study.id) ?? study) },
    );
    for (const study of studies) {
      const known = client.getQueryData<StudyDetail>(["study", study.id]);
      if (known) client.setQueryData<StudyDetail>(["study", study.id], { ...known, ...study });
      if (known && (known.trials_done !== study.trials_done || known.state !== study.state)) readResults(study.id);
    }
    if (studies.some((study) => states.get(study.id) !== study.state)) anew("studies");
    for (const study of studies) states.set(study.id, study.state);
  };

  socket.open();
  return () => {
    clearTimeout(answersAt);
    socket.close();
  };
}

function takeExperiments(client: QueryClient, experiments: ExperimentNews[]): void {
  const byId = new Map(experiments.map((experiment) => [experiment.id, experiment]));
  const known = client.getQueryData<ExperimentRow[]>(["experiments"]);
  if (known?.length && experiments.every(({ id }) => known.some((row) => row.id === id)))
    client.setQueryData<ExperimentRow[]>(
      ["experiments"],
      known.map((row) => {
        const told = byId.get(row.id);
        return told ? { ...row, name: told.name, updated_at: told.saved.saved_at, example: false } : row;
      }),
    );
  else void client.invalidateQueries({ queryKey: ["experiments"] });
  for (const { id, saved } of experiments) {
    client.setQueryData<Saved | null>(["experiment-saved", id], saved);
    void client.invalidateQueries({ queryKey: ["versions", id] });
  }
}

function takeQuestion(client: QueryClient, question: Question): void {
  const all = ["waterfalls", question.run];
  const known = client.getQueryData<Question[]>(all);
  if (known?.some(({ id }) => id === question.id))
    client.setQueryData<Question[]>(all, known.map((one) => (one.id === question.id ? { ...one, ...question } : one)));
  else void client.invalidateQueries({ queryKey: all, exact: true });
  const one = [...all, question.id];
  // The answer itself is not told; it is read once it is there.
  if (question.state === "succeeded") void client.invalidateQueries({ queryKey: one });
  else client.setQueryData<Answer>(one, (answer) => answer && { ...answer, ...question });
}

/** A question about many runs, as it is now; its answer is read once there is one. */
export function takeAnalysis(client: QueryClient, analysis: Analysis): void {
  const pages = client.getQueriesData<Page<Analysis>>({ queryKey: ["spark/jobs"] });
  if (pages.some(([, page]) => page?.items.some(({ id }) => id === analysis.id)) && isActive(analysis))
    client.setQueriesData<Page<Analysis>>(
      { queryKey: ["spark/jobs"] },
      (page) => page && { ...page, items: page.items.map((one) => (one.id === analysis.id ? analysis : one)) },
    );
  else void client.invalidateQueries({ queryKey: ["spark/jobs"] }); // it is new, or Spark may have come or gone
  const one = ["analysis", analysis.id];
  if (isActive(analysis)) client.setQueryData<AnalysisDetail>(one, (known) => known && { ...known, ...analysis });
  else void client.invalidateQueries({ queryKey: one });
}

/** A query on Spark, as it is now; its micro-batches are read once there are new ones. */
export function takeSparkRun(client: QueryClient, row: SparkRun): void {
  const all = ["spark-runs", row.run];
  const known = client.getQueryData<SparkRun[]>(all);
  if (known?.some(({ id }) => id === row.id)) client.setQueryData<SparkRun[]>(all, known.map((one) => (one.id === row.id ? row : one)));
  else void client.invalidateQueries({ queryKey: all, exact: true });
  const one = [...all, row.id];
  const before = client.getQueryData<SparkRunDetail>(one);
  client.setQueryData<SparkRunDetail>(one, (detail) => detail && { ...detail, ...row });
  const isNew = before && (before.micro_batches.length !== row.batches || before.state !== row.state);
  if (isNew) void client.invalidateQueries({ queryKey: one });
}

/** A measurement of the machine, as it is now; what was measured is read once it has ended. */
export function takeCalibration(client: QueryClient, job: CalibrationJob): void {
  if (isActive(job)) client.setQueryData<CalibrationState>(["spark-calibration"], (known) => known && { ...known, job });
  else void client.invalidateQueries({ queryKey: ["spark-calibration"] });
}

/** A job of learning, as it is now. What it makes is read anew: a corpus that grows, the course of training. */
export function takeLearningJob(client: QueryClient, job: LearningJob): void {
  const known = client.getQueryData<Learning>(["learning"]);
  const before = known?.jobs.find(({ id }) => id === job.id);
  const grows = job.kind === "corpus" && before?.doing !== job.doing; // the traces that are there are counted anew
  if (before?.state === job.state && isActive(job) && !grows)
    client.setQueryData<Learning>(["learning"], (all) => all && { ...all, jobs: all.jobs.map((one) => (one.id === job.id ? job : one)) });
  else void client.invalidateQueries({ queryKey: ["learning"] });
  if (job.kind === "models") void client.invalidateQueries({ queryKey: ["learned-models", job.name] });
}

/** A figure that is carried out, as it is now; its result is read once there is one. */
export function takeReproduction(client: QueryClient, row: Reproduction): void {
  const withRow = (rows: Reproduction[]) =>
    rows.some(({ id }) => id === row.id) ? rows.map((one) => (one.id === row.id ? row : one)) : [row, ...rows];
  client.setQueryData<Reproduction[]>(["reproductions", row.figure], (rows) => rows && withRow(rows));
  client.setQueryData<FigureItem[]>(["figures"], (figures) =>
    figures?.map((figure) => (figure.id === row.figure ? { ...figure, under_way: withRow(figure.under_way).filter(isActive) } : figure)),
  );
  if (!isActive(row)) for (const queryKey of [["figures"], ["figure", row.figure]]) void client.invalidateQueries({ queryKey });
}
