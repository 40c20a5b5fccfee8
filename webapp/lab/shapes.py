"""The lab's records as the API and the live stream show them. docs/web-api.md describes them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from ninja import Schema

from .models import Dataset, Experiment, Run, RunState, Waterfalls


class ExperimentName(Schema):
    id: str
    name: str


class ExperimentItem(ExperimentName):
    """A line of the list; `runs` counts those that are not deleted, `description` is shortened, an `example` is as it came."""

    description: str
    updated_at: datetime
    runs: int
    example: bool


class ExperimentShape(Schema):
    id: str
    version: int
    document: dict[str, Any]
    problems: list[dict[str, Any]]
    updated_at: datetime

    @classmethod
    def of(cls, experiment: Experiment, problems: list[dict[str, Any]]) -> Self:
        return cls(
            id=str(experiment.pk),
            version=experiment.version,
            document=experiment.document,
            problems=problems,
            updated_at=experiment.updated_at,
        )


class RunShape(Schema):
    """A run without its document. Times in seconds; `eta_s` is wall-clock time, `t_s` and `horizon_s` are virtual.

    `pace`: virtual seconds a second at most, null: as fast as possible. `hold_at_frame`: the number of frames at which it stands still, 0:
    at once, null: it goes on to its end.
    """

    id: str
    number: int
    experiment: ExperimentName
    state: str
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
    cancel_requested: bool
    pace: float | None
    hold_at_frame: int | None
    paused_at: datetime | None
    frames: int
    summary: dict[str, Any] | None
    digest: str | None
    error: str | None
    tags: list[str]

    @classmethod
    def fields_of(cls, run: Run) -> dict[str, Any]:
        return {
            "id": str(run.pk),
            "number": run.number,
            "experiment": ExperimentName(id=str(run.experiment_id), name=run.name),
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
            "cancel_requested": run.cancel_requested,
            "pace": run.pace,
            "hold_at_frame": run.hold_at_frame if run.active else None,
            "paused_at": run.paused_at if run.state == RunState.PAUSED else None,
            "frames": run.frames,
            "summary": None if run.active else run.summary,
            "digest": run.digest or None,
            "error": run.error or None,
            "tags": sorted(tag.name for tag in run.tags.all()),
        }

    @classmethod
    def of(cls, run: Run) -> Self:
        return cls(**cls.fields_of(run))


class RunDetail(RunShape):
    """A run with the document that it executes; `note` says what the person should know about its start."""

    document: dict[str, Any]
    note: str | None = None

    @classmethod
    def of(cls, run: Run, note: str | None = None) -> Self:
        return cls(**cls.fields_of(run), document=run.document, note=note)


class WaterfallsShape(Schema):
    """A question about a run's records; `records` are those found. `note` says what the person should know about its start."""

    id: str
    run: str
    selection: dict[str, Any]
    state: str
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


class DatasetColumn(Schema):
    name: str
    type: str
    sample: list[Any]


class DatasetShape(Schema):
    id: str
    name: str
    rows: int
    bytes: int
    columns: list[DatasetColumn]
    timestamps: list[str]

    @classmethod
    def fields_of(cls, dataset: Dataset) -> dict[str, Any]:
        return {
            "id": str(dataset.pk),
            "name": dataset.name,
            "rows": dataset.rows,
            "bytes": dataset.bytes,
            "columns": dataset.columns,
            "timestamps": dataset.timestamps,
        }

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        return cls(**cls.fields_of(dataset))


class DatasetDetail(DatasetShape):
    """With the first rows, each a mapping from column names to values."""

    preview: list[dict[str, Any]]
