/** The answers of the web API and the messages of its sockets, by the names that pages use (docs/web-api.md). */
import type { AnalysisKind, AnalysisQuestion, Answer } from "./analysis";
import type { FigureDocument } from "./figure";
import type * as Api from "./generated";

export type Json = Api.Json;
/** A tagged choice: `kind` and that kind's own fields. */
export type Tagged = { kind: string; [field: string]: Json };
export type JsonSchema = { [key: string]: Json };

// --- who is asking ----------------------------------------------------------------------------------------------------------------------

export type Me = Api.Me;
export type Role = Me["role"];
/** What somebody may do, from the least to the most: each includes those before it. */
export type Scope = Me["scopes"][number];

// --- documents --------------------------------------------------------------------------------------------------------------------------

/** What pages themselves find has no value or hint. */
export type Problem = Omit<Api.Problem, "value" | "hint" | "missing"> & Partial<Pick<Api.Problem, "value" | "hint" | "missing">>;
export type Kind = Api.Kind;
export type Family = keyof Api.Catalogue;
export type Registry = Partial<Api.Catalogue>;
export type RecordField = Api.RecordField;
export type RecordSchema = Api.RecordSchema;
export type Validation = Omit<Api.Validation, "problems"> & { problems: Problem[] };
/** By source, pairs of time in s and records per s. */
export type RatePreview = { sources: Record<keyof Api.Preview["sources"], [number, number][]> };
export type BalancingAction = Api.BalancingAction;
export type WorksetHandOver = Api.WorksetHandOver;
export type SpacesNews = Api.SpacesNews;
export type StoredRecord = Api.StoredRecord;
export type StateNews = Api.StateNews;
export type OutputLogNews = Api.OutputLogNews;
export type OutputLogSample = Api.OutputLogSample;
export type StandbyNews = Api.StandbyNews;
export type StandbyPair = Api.StandbyPair;
export type StandbySample = Api.StandbySample;
export type Takeover = Api.Takeover;
export type StoreSample = Api.StoreSample;
export type Outage = Api.Outage;
export type CleanerSample = Api.CleanerSample;
export type Template = Api.Template;
export type ExperimentRow = Api.ExperimentItem;
export type ExperimentRecord = Omit<Api.ExperimentShape, "problems"> & { problems: Problem[] };
/** Who saved a version, and when. */
export type Saved = Api.SavedShape;
export type VersionItem = Api.VersionItem;
export type VersionPage = Api.VersionPage;
export type VersionDetail = Omit<Api.VersionDetail, "problems"> & { problems: Problem[] };
export type ExperimentNews = Api.ExperimentNews;
export type OpenPage = Api.OpenPage;
export type PythonCode = Api.PythonCodeShape;
export type Threshold = Api.Threshold;
export type Exactness = Api.Exactness;
export type ReadDocument = Api.DocumentShape;
export type DatasetColumn = Api.DatasetColumn;
export type Dataset = Api.DatasetShape;
export type DatasetDetail = Api.DatasetDetail;
/** How a file of text is read, and what that makes of its first rows. */
export type Reading = Api.ReadingShape;
export type ReadColumn = Api.ReadColumnShape;
export type UploadPreview = Api.UploadPreview;
export type UploadProblem = Api.ReadingProblem;

// --- placement advice -------------------------------------------------------------------------------------------------------------------

export type AdviceState = Api.AdviceState;
/** Trained models: several for each cost, taught with the traces of one corpus. */
export type AdviceModels = Api.ModelsShape;
export type Advice = Api.AdviceShape;
export type AdviceCandidate = Api.CandidateShape;
export type OutsideTraining = Api.OutsideShape;
export type Goal = Advice["goal"];
/** Why a candidate comes last. */
export type Filtered = Advice["relaxed"][number];

/** What is asked of models about a document. models: empty for the first ones. */
export interface AdviceQuestion {
  goal: Goal;
  models: string;
  /** Host names by operator id. */
  pinned: { [operator: string]: string };
  /** Names of hosts that nothing is placed on, but what is pinned there. */
  forbidden: string[];
}

// --- lessons ----------------------------------------------------------------------------------------------------------------------------

export type CheckpointMark = Api.CheckpointMark;
export type MessageArrow = Api.MessageArrow;
export type BarredWait = Api.Wait;
export type SpaceTimeDiagram = Api.Diagram;
export type LessonStep = Api.LessonStep;
export type Explained = Api.Explained;
export type LessonItem = Api.LessonItem;
export type Lesson = Api.LessonTold;

// --- runs -------------------------------------------------------------------------------------------------------------------------------

export type RunState = Api.RunState;
/** With the document where it was asked for alone. */
export type Run = Api.RunShape & Partial<Api.RunDetail>;
export type ViewQuery = Api.Asked;
export type View = Api.ViewShape;
export type Tag = Api.TagItem;
/** A field by which runs are found, grouped and drawn. */
export type RunField = Api.FieldShape;
export type RunFields = Api.Fields;
/** An answer about fields, with their names as they were asked for: it stays on show while others are on their way. */
export type Asked<Answer> = Answer & { asked: readonly string[] };

export type RunPage = Omit<Api.RunPage, "items"> & { items: Run[] };
export type GroupPage = Api.GroupPage;
export type RunGroup = Api.GroupShape;
export type MeasuredOfGroup = Api.MeasuredShape;
export type RunPoints = Api.PointsShape;
/** On one assertion of a run. */
export type RunVerdict = Api.Verdict;
export type MeasuredSide = Api.MeasuredSide;
/** The run that an experiment's other runs are compared with. */
export type Baseline = Api.BaselineShape;
export type Selection = Api.Selection;
export type Question = Api.WaterfallsShape;
/** A run's query on a real Spark. */
export type SparkRun = Api.SparkRunShape;
export type SparkRunDetail = Api.SparkRunDetail;
export type MicroBatch = Api.MicroBatch;
export type SparkComparison = Api.SparkComparison;
export type SparkPrediction = Api.SparkPrediction;
export type SparkLatency = Api.ResultLatency;
export type CalibrationState = Api.CalibrationState;
export type CalibrationJob = Api.CalibrationJobShape;
export type CalibratedMachine = Api.MachineShape;
export type Waterfall = Api.Waterfall;
export type Diagnosis = Api.DiagnosisShape;
export type Remedy = Api.RemedyShape;
export type InstanceRow = Api.InstanceRow;
export type Instances = Api.InstancesShape;
/** The keys with the most records of an instance in a frame, or why they cannot be told. */
export type HotKeys = Api.KeysShape;
export type Difference = Api.Difference;
export type DocumentDifference = Api.DocumentDifference;
export type ComparedSide = Api.SideShape;
export type Comparison = Api.ComparisonShape;

// --- frames -----------------------------------------------------------------------------------------------------------------------------

export type Frame = Api.Frame;
export type Latency = Api.ResultLatency;
export type OperatorSample = Api.OperatorSample;
export type Attribution = Api.Attribution;
export type HostSample = Api.HostSample;
export type Death = Api.Death;
export type CheckpointNews = Api.CheckpointNews;
export type CheckpointRound = Api.CheckpointRound;
export type CapturedCheckpoint = Api.CapturedCheckpoint;
export type DurableCheckpoint = Api.DurableCheckpoint;
export type Recovery = Api.Recovery;
export type RegionTurn = Api.RegionTurn;
export type Aligning = Api.Aligning;
export type ScalingNews = Api.ScalingNews;
export type ScalingState = ScalingNews["state"];
export type ScalingReading = Api.ScalingReading;
export type ScalingDecision = Api.ScalingDecision;
export type RescaleAction = Api.RescaleAction;

// --- analyses ---------------------------------------------------------------------------------------------------------------------------

/** A question about many runs that there are. */
export type Analysis = Omit<Api.SparkJobShape, "kind" | "question"> & { kind: AnalysisKind; question: AnalysisQuestion };
export type AnalysisDetail = Analysis & { answer: Answer | null; count: Api.AnalysisDetail["count"] };
export type SparkState = Api.SparkState;
/** What a question would read, and of each side of it. */
export type SelectionOfRuns = Api.SelectionOfRuns;
export type SelectedRuns = Api.SelectedRuns;
export type FilesToRead = Api.FilesToRead;

// --- studies ----------------------------------------------------------------------------------------------------------------------------

export type Study = Api.StudyShape;

/** What is varied in a study (docs/studies.md). */
export interface Axis {
  name: string;
  /** JSON pointers into the experiment. */
  fields: string[];
  multiply?: boolean;
  /** Further fields, multiplied by the value where the others are set to it. */
  also_multiplied?: string[];
  values: Tagged;
}

export interface StudyDocument {
  format?: number;
  name?: string;
  description?: string;
  experiment: Json;
  seeds?: number[];
  axes?: Axis[];
  design?: Tagged;
  executor?: "workers" | "spark";
  search?: { kind: string; load?: Axis; shares?: number[]; [field: string]: unknown };
  [field: string]: unknown;
}

export type StudyDetail = Omit<Api.StudyDetail, "document"> & { document: StudyDocument };
/** Values by the names of axes. */
export type AxisValues = StudyPoint["values"];
export type StudyInterval = Api.Interval;
export type StudyRun = Api.RunOf;
export type StudyPoint = Api.Point;
export type AssertionCount = Api.AssertionCount;
export type TriedLoad = Api.Tried;
export type StudySearch = Api.Found;
export type StudyResults = Omit<Api.Results, "next">;
export type TriedPoint = Api.TriedPoint;
export type StudyOptimisation = Api.Optimisation;
export type StudySchema = Api.StudyCatalogue;
export type StudyChecked = Omit<Api.Checked, "problems"> & { problems: Problem[] };

// --- figures ----------------------------------------------------------------------------------------------------------------------------

export type Reproduction = Api.ReproductionShape;
export type FigureItem = Api.FigureItem;
export type FigureShipped = Api.ShippedShape;
export type FigureResult = Api.FigureResultShape;
export type RunBehind = Api.RunBehind;
export type FigureDetail = Omit<Api.FigureDetail, "document"> & { document: FigureDocument };

// --- learned models -----------------------------------------------------------------------------------------------------------------

export type Learning = Api.Learning;
export type Corpus = Api.CorpusShape;
export type LearnedModels = Api.ModelRow;
export type LearnedModelsDetail = Api.ModelDetail;
export type LearningJob = Api.LearningJobShape;
export type Cost = Api.MemberShape["metric"];

// --- sockets ----------------------------------------------------------------------------------------------------------------------------

export type SocketMessage = Exclude<Api.RunMessage, { type: "state" }> | { type: "state"; run: Run };
export type NewsMessage =
  | Exclude<Api.NewsMessage, { type: "analyses" } | { type: "learning_jobs" }>
  | { type: "learning_jobs"; learning_jobs: LearningJob[] }
  | { type: "analyses"; analyses: Analysis[] };
