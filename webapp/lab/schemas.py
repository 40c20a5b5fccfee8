"""The lab's records as the API and the live stream return them; see docs/web-api.md."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, Self

from ninja import Schema
from pydantic import BaseModel
from typing_extensions import TypedDict

from engine.profiles import executed
from engine.spec.base.records import FieldType
from engine.spec.experiment.assertion import State
from engine.spec.experiment.selection import Selection
from engine.spec.figure.figure import Scale
from webapp.lib.described import EXACT, AsIs, Json, JsonObject
from webapp.messaging.presence import people_at

from .models import (
    CalibrationJob,
    Dataset,
    Experiment,
    ExperimentVersion,
    LearningJob,
    Reproduction,
    Run,
    RunState,
    SparkJob,
    SparkRun,
    Study,
    Waterfalls,
)
from .studies import waits_for
from .verdicts import verdicts_of


class Problem(BaseModel):
    """A problem in a document. pointer: JSON pointer into the document as sent. value: the value found. hint: how to fix it.

    missing: the document is incomplete here, not wrong.
    """

    pointer: str
    code: str
    message: str
    value: Json
    hint: str
    severity: Literal["error", "warning"]
    missing: bool = False


@EXACT
class RecordField(TypedDict):
    name: str
    type: str


@EXACT
class RecordSchema(TypedDict):
    """Fields of a stream's records, and bytes per record."""

    fields: list[RecordField]
    bytes: int


@EXACT
class Parameter(TypedDict):
    """type: a field type, or "any". constant: the argument must be a literal."""

    name: str
    type: str
    constant: bool


@EXACT
class Signature(TypedDict):
    """repeated: the last parameter may be repeated."""

    text: str
    parameters: list[Parameter]
    repeated: bool
    result: str


@EXACT
class Kind(TypedDict):
    """An available kind, as palettes, forms and Help show it. schema: JSON Schema of its parameters, without `kind`. fields: of a stream of
    fixed shape. rescalable, loss_text: for checkpointing protocols, whether they allow rescaling, and the effect of losing a host.
    price_list, compared: for engines, their own, or empty, and whether *Which engine?* compares them with others.
    decides_live, relocates: for scaling, whether it decides repeatedly during a run, and whether it changes hosts in place of parallelism.
    usual_per_s: of a stream, the rate of a new source. example,
    signatures: for functions. unit, type: of a measurement; a name in angle brackets in its `kind` stands for each part of that sort."""

    kind: str
    title: str
    family: str
    group: str
    icon: str
    doc: str
    source: str
    schema: JsonObject
    inputs: list[str]
    outputs: list[str]
    fields: NotRequired[list[RecordField]]
    rescalable: NotRequired[bool]
    loss_text: NotRequired[str]
    price_list: NotRequired[str]
    compared: NotRequired[bool]
    decides_live: NotRequired[bool]
    relocates: NotRequired[bool]
    usual_per_s: NotRequired[float]
    example: NotRequired[str]
    unit: NotRequired[str]
    type: NotRequired[Literal["number", "series"]]
    signatures: NotRequired[list[Signature]]


class ExperimentName(Schema):
    id: str
    name: str


class ExperimentItem(ExperimentName):
    """An entry of the list. `runs`: number of runs, without deleted ones. `description`: shortened. `example`: an unmodified example."""

    description: str
    updated_at: datetime
    runs: int
    example: bool


class SavedShape(Schema):
    """Who saved a version of an experiment, and when. author: empty if it was saved before versions were kept, or shipped with Millrace.
    token: name of the token if a program saved it. editor: the open page that saved it."""

    number: int
    author: str
    token: str
    editor: str
    saved_at: datetime

    @classmethod
    def fields_of(cls, version: ExperimentVersion) -> dict[str, Any]:
        names = ("number", "author", "token", "editor", "saved_at")
        return {name: getattr(version, name) for name in names}

    @classmethod
    def newest(cls, experiment: Experiment) -> Self:
        version = experiment.versions.defer("document").order_by("-number").first()
        if version is None:
            return cls(number=experiment.version, author="", token="", editor="", saved_at=experiment.updated_at)
        return cls(**cls.fields_of(version))


class ExperimentShape(Schema):
    """An experiment. saved: who saved its newest version."""

    id: str
    version: int
    document: JsonObject
    problems: list[Problem]
    updated_at: datetime
    saved: SavedShape

    @classmethod
    def of(cls, experiment: Experiment, problems: list[dict[str, Any]]) -> Self:
        return cls(
            id=str(experiment.pk),
            version=experiment.version,
            document=experiment.document,
            problems=problems,
            updated_at=experiment.updated_at,
            saved=SavedShape.newest(experiment),
        )


class ExperimentNews(ExperimentName):
    """An experiment that was saved."""

    saved: SavedShape

    @classmethod
    def of(cls, experiment: Experiment) -> Self:
        return cls(id=str(experiment.pk), name=experiment.name, saved=SavedShape.newest(experiment))


class OpenPage(Schema):
    """editor: the name that the page has given itself."""

    name: str
    editor: str


class PresenceShape(Schema):
    """Who has an experiment open. id: of the experiment."""

    id: str
    pages: list[OpenPage]

    @classmethod
    def of(cls, experiment: uuid.UUID) -> Self:
        return cls(id=str(experiment), pages=[OpenPage(name=name, editor=editor) for name, editor in people_at(experiment)])


SAID_LENGTH_MAX = 200  # characters


@EXACT
class MeasuredSide(TypedDict):
    """A side of a comparison and its value. least, most: differ for a series; most is null for a value that was still growing when it was
    last observed. unit: empty if unknown."""

    text: str
    least: float
    most: float | None
    unit: str


@EXACT
class Verdict(TypedDict):
    """An assertion of the run's document and its outcome. reason: why it cannot be judged, or what happened, if that is known."""

    name: str
    check: str
    note: str
    state: State
    measured: list[MeasuredSide]
    reason: str


class RunShape(Schema):
    """A run without its document. Times in seconds: `eta_s` in wall-clock time, `t_s` and `horizon_s` in virtual time.

    `pace`: maximum virtual seconds per second, null for as fast as possible. `hold_at_frame`: number of frames at which it pauses; 0: at
    once, null: it runs to its end. `compiling`: its worker compiles the event loop of the query, once for each machine, and no time passes
    yet. `said`: the beginning of the notes on it. `sparkline`: p99 latency in ms at equal intervals of the run; null until it has ended,
    and for runs of older versions. `judged`: the outcome of all assertions together; null before the end, and without assertions.
    `verdicts`: that of each. `author`: name of the person who started it or its study; empty for runs of older versions, and of figures.
    """

    id: str
    number: int
    experiment: ExperimentName
    author: str
    study: str | None
    parent: str | None
    fork_at_s: float | None
    state: RunState
    seed: int
    hash: str
    engine_version: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: float
    t_s: float
    horizon_s: float
    eta_s: float | None
    compiling: bool
    cancel_requested: bool
    pace: float | None
    hold_at_frame: int | None
    paused_at: datetime | None
    frames: int
    summary: JsonObject | None
    sparkline: list[float | None] | None
    digest: str | None
    judged: State | None
    verdicts: list[Verdict]
    frames_removed_at: datetime | None
    error: str | None
    tags: list[str]
    said: str

    @classmethod
    def fields_of(cls, run: Run, tags: Iterable[str] | None = None) -> dict[str, Any]:
        """tags: their names if they are known; otherwise they are looked up."""
        return {
            "id": str(run.pk),
            "number": run.number,
            "experiment": ExperimentName(id=str(run.experiment_id), name=run.name),
            "author": run.author,
            "study": str(run.study_id) if run.study_id else None,
            "parent": str(run.parent_id) if run.parent_id else None,
            "fork_at_s": None if run.fork_at_ns is None else run.fork_at_ns / 1e9,
            "state": run.state,
            "seed": run.seed,
            "hash": run.hash,
            "engine_version": run.engine_version,
            "created_at": run.created_at,
            "started_at": run.started_at,
            "finished_at": run.finished_at,
            "progress": run.progress,
            "t_s": run.t_ns / 1e9,
            "horizon_s": run.horizon_ns / 1e9,
            "eta_s": run.eta_s if run.active else None,
            "compiling": run.compiling and run.state == RunState.RUNNING,
            "cancel_requested": run.cancel_requested,
            "pace": run.pace,
            "hold_at_frame": run.hold_at_frame if run.active else None,
            "paused_at": run.paused_at if run.state == RunState.PAUSED else None,
            "frames": run.frames,
            "summary": None if run.active else run.summary,
            "sparkline": None if run.active else run.sparkline,
            "digest": run.digest or None,
            "judged": None if run.active else run.judged or None,
            "verdicts": verdicts_of(run),
            "frames_removed_at": run.frames_removed_at,
            "error": run.error or None,
            "tags": sorted(tag.name for tag in run.tags.all()) if tags is None else sorted(tags),
            "said": run.notes[:SAID_LENGTH_MAX],
        }

    @classmethod
    def of(cls, run: Run) -> Self:
        return cls(**cls.fields_of(run))


class RunDetail(RunShape):
    """A run with its document. `executed`: the document as its engine executes it, with a driver and receivers; null without an engine.
    `note`: a remark about its start, for the user."""

    document: JsonObject
    executed: JsonObject | None
    note: str | None = None

    @classmethod
    def of(cls, run: Run, note: str | None = None) -> Self:
        return cls(**cls.fields_of(run), document=run.document, executed=executed(run.document), note=note)

    @classmethod
    def of_new(cls, run: Run, note: str | None) -> Self:
        """Of a run that has just been stored, and has no tags."""
        return cls(**cls.fields_of(run, tags=()), document=run.document, executed=executed(run.document), note=note)


class WaterfallsShape(Schema):
    """A request for waterfalls of a run. `records`: number of records found. `note`: a remark about its start, for the user."""

    id: str
    run: str
    selection: Annotated[dict[str, Any], AsIs(Selection)]
    state: RunState
    progress: float
    records: int | None
    error: str | None
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    note: str | None = None

    @classmethod
    def of(cls, waterfalls: Waterfalls, note: str | None = None) -> Self:
        return cls(
            id=str(waterfalls.pk),
            run=str(waterfalls.run_id),
            selection=waterfalls.selection,
            state=waterfalls.state,
            progress=waterfalls.progress,
            records=waterfalls.records,
            error=waterfalls.error or None,
            cancel_requested=waterfalls.cancel_requested,
            created_at=waterfalls.created_at,
            started_at=waterfalls.started_at,
            finished_at=waterfalls.finished_at,
            note=note,
        )


class StudyShape(Schema):
    """A study without its document. `trials_left`: an estimate for searches, null until the study has begun. `eta_s`: wall-clock time."""

    id: str
    name: str
    experiment: str
    state: RunState
    progress: float
    trials_done: int
    trials_failed: int
    trials_left: int | None
    eta_s: float | None
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error: str | None

    @classmethod
    def fields_of(cls, study: Study) -> dict[str, Any]:
        return {
            "id": str(study.pk),
            "name": study.name,
            "experiment": str(study.experiment_id),
            "state": study.state,
            "progress": study.progress,
            "trials_done": study.trials_done,
            "trials_failed": study.trials_failed,
            "trials_left": study.trials_left,
            "eta_s": study.eta_s,
            "cancel_requested": study.cancel_requested,
            "created_at": study.created_at,
            "started_at": study.started_at,
            "finished_at": study.finished_at,
            "error": study.error or None,
        }

    @classmethod
    def of(cls, study: Study) -> Self:
        return cls(**cls.fields_of(study))


class Predictions(TypedDict):
    """What learned models predicted of the points of a study, in their order, before any of them was run. models: their name. points: by
    cost, the prediction of each member."""

    models: str
    points: list[dict[str, list[float]]]


class StudyDetail(StudyShape):
    """A study with its document. `metrics`: names of the metrics that its runs measured so far. `note`: what its runs are waiting for."""

    document: JsonObject
    predictions: Predictions | None
    metrics: list[str]
    note: str | None

    @classmethod
    def of(cls, study: Study, metrics: list[str] | None = None) -> Self:
        known = {"document": study.document, "predictions": study.predictions, "metrics": metrics or [], "note": waits_for(study)}
        return cls(**cls.fields_of(study), **known)


class ReadColumnShape(TypedDict):
    """How one column is read. written: its name in the file. time_format, time_zone: of timestamps. fill: in place of missing values."""

    written: str
    name: str
    type: FieldType
    keep: bool
    time_format: NotRequired[str]
    time_zone: NotRequired[str]
    fill: NotRequired[bool | float | str]


class ReadingShape(TypedDict):
    """How a file of text is read (docs/data-sets.md). columns: one for each column of the file, in its order."""

    delimiter: Literal[",", ";", "\t", "|"]
    decimal: Literal[".", ","]
    thousands: Literal["", ".", ",", " ", "'"]
    nulls: list[str]
    header: bool
    bad_cells: Literal["refuse", "null"]
    missing: Literal["refuse", "skip_row"]
    columns: list[ReadColumnShape]


class ReadCounts(TypedDict):
    """What a reading did not simply take over. rows: of the file. missing, bad: cells by column."""

    rows: int
    rows_skipped: int
    missing: dict[str, int]
    bad: dict[str, int]


class ReadingReason(Schema):
    """Why detection proposes something. pointer: JSON pointer into the reading."""

    pointer: str
    text: str


class ReadingProblem(Problem):
    """A problem of a reading. pointer: into the reading, or /file. line, column: of the cell at fault."""

    line: int | None
    column: str | None


class UploadPreview(Schema):
    """What a reading makes of the beginning of a file. rows: rows looked at. missing, bad: cells without a value and cells of another type,
    by column. written, read: the first rows as the file and as the data set has them; a cell without a value is null in `read`.
    """

    reading: Annotated[dict[str, Any], AsIs(ReadingShape)]
    reasons: list[ReadingReason]
    problems: list[ReadingProblem]
    rows: int
    missing: list[int]
    bad: list[int]
    written: list[list[str]]
    read: list[list[Json]]


class DatasetColumn(Schema):
    name: str
    type: str
    sample: list[Json]


class DatasetShape(Schema):
    id: str
    name: str
    rows: int
    bytes: int
    columns: list[DatasetColumn]
    timestamps: list[str]
    created_at: datetime

    @classmethod
    def fields_of(cls, dataset: Dataset) -> dict[str, Any]:
        return {
            "id": str(dataset.pk),
            "name": dataset.name,
            "rows": dataset.rows,
            "bytes": dataset.bytes,
            "columns": dataset.columns,
            "timestamps": dataset.timestamps,
            "created_at": dataset.created_at,
        }

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        return cls(**cls.fields_of(dataset))


class DatasetDetail(DatasetShape):
    """A data set with a preview of its first rows, each a mapping from column names to values.

    reading: how the file was read; null for a Parquet file. hash: of the uploaded bytes and the reading. Both, and counts, are null for a
    data set uploaded before readings were kept.
    """

    preview: list[JsonObject]
    reading: Annotated[dict[str, Any] | None, AsIs(ReadingShape | None)]
    counts: Annotated[dict[str, Any] | None, AsIs(ReadCounts | None)]
    hash: str | None

    @classmethod
    def of_rows(cls, dataset: Dataset, preview: list[dict[str, Any]]) -> Self:
        more = {"reading": dataset.reading, "counts": dataset.counts, "hash": dataset.hash or None}
        return cls(**cls.fields_of(dataset), preview=preview, **more)


class ReproductionShape(Schema):
    """A requested reproduction of a figure. progress: of its studies, 0 to 1. doing: what is done for its learned models. note: why its
    start may be delayed."""

    id: str
    figure: str
    scale: Scale
    state: RunState
    progress: float
    doing: str
    error: str
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    note: str | None = None

    @classmethod
    def of(cls, row: Reproduction, note: str | None = None) -> Self:
        names = ("figure", "scale", "state", "progress", "doing", "error", "cancel_requested", "created_at", "started_at", "finished_at")
        return cls(id=str(row.pk), note=note, **{name: getattr(row, name) for name in names})


class LearningJobShape(Schema):
    """Measuring a corpus, or training models. name: of what is made. doing: what is going on. note: why its start may be delayed."""

    id: str
    kind: Literal["corpus", "models"]
    name: str
    settings: JsonObject
    state: RunState
    doing: str
    author: str
    error: str
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    note: str | None = None

    @classmethod
    def of(cls, job: LearningJob, note: str | None = None) -> Self:
        names = (
            "kind",
            "name",
            "settings",
            "state",
            "doing",
            "author",
            "error",
            "cancel_requested",
            "created_at",
            "started_at",
            "finished_at",
        )
        return cls(id=str(job.pk), note=note, **{name: getattr(job, name) for name in names})


class SparkRunShape(Schema):
    """The query of a run, executed on a real Spark. files: into which the input of each source is cut. paced: in place of that, input
    appears at the pace of the logs. trigger_ms: least time between micro-batches then. batches: micro-batches that have ended. equal:
    whether Spark's records are the engine's; null until they are compared. note: why its start may be delayed."""

    id: str
    run: str
    files: int
    paced: bool
    trigger_ms: int
    state: RunState
    doing: str
    progress: float
    batches: int
    equal: bool | None
    author: str
    error: str | None
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    note: str | None = None

    @classmethod
    def fields_of(cls, row: SparkRun) -> dict[str, Any]:
        names = (
            "files",
            "paced",
            "trigger_ms",
            "state",
            "doing",
            "progress",
            "batches",
            "author",
            "cancel_requested",
            "created_at",
            "started_at",
            "finished_at",
        )
        equal = None if row.comparison is None else row.comparison["equal"]
        ids = {"id": str(row.pk), "run": str(row.run_id)}
        return {**ids, "error": row.error or None, "equal": equal, **{name: getattr(row, name) for name in names}}

    @classmethod
    def of(cls, row: SparkRun, note: str | None = None) -> Self:
        return cls(**cls.fields_of(row), note=note)


class CalibrationJobShape(Schema):
    """A measurement of what micro-batches take on the machine of the analysis worker. progress: fraction of the queries measured, 0 to 1.
    though_busy: also while other processes are at work. note: why its start may be delayed."""

    id: str
    state: RunState
    though_busy: bool
    doing: str
    progress: float
    author: str
    error: str | None
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    note: str | None = None

    @classmethod
    def of(cls, job: CalibrationJob, note: str | None = None) -> Self:
        names = ("state", "though_busy", "doing", "progress", "author", "cancel_requested", "created_at", "started_at", "finished_at")
        return cls(id=str(job.pk), error=job.error or None, note=note, **{name: getattr(job, name) for name in names})


class SparkJobShape(Schema):
    """An analysis over many runs. runs: number of runs it covers. read: number of runs whose files this job reads; the others were cached.
    Both are null until it has selected its runs. progress: fraction of `read` done, 0 to 1; at 1, while it is running, it computes the
    answer. note: why its start may be delayed."""

    id: str
    kind: str
    question: JsonObject
    state: RunState
    progress: float
    runs: int | None
    read: int | None
    error: str | None
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    note: str | None = None

    @classmethod
    def fields_of(cls, job: SparkJob) -> dict[str, Any]:
        names = ("kind", "question", "state", "progress", "runs", "read", "cancel_requested", "created_at", "started_at", "finished_at")
        return {"id": str(job.pk), "error": job.error or None, **{name: getattr(job, name) for name in names}}

    @classmethod
    def of(cls, job: SparkJob, note: str | None = None) -> Self:
        return cls(**cls.fields_of(job), note=note)
