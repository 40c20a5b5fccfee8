"""What a question about many runs would read: its runs by experiment, when they ended, and how many of them are new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from ninja import Schema

from engine.spec.base.problems import refusals_below
from webapp.lab.models import Lab
from webapp.lab.models.spark import stamp_of

from .analysis import QuestionAbout, RunsAsked, refuse_too_many
from .summary_store import Store

EXPERIMENTS_MAX = 20
"""Maximum number of experiments that a selection lists, those with the most runs first."""
COLUMNS = ("pk", "experiment", "experiment__name", "finished_at", "stored_bytes", "engine_version", "digest", "state", "frames")


class SelectionAsked(QuestionAbout):
    """The runs of a question, and of a comparison also those they are compared with."""

    against: RunsAsked | None = None


class FilesToRead(Schema):
    """Runs and the size of their files. bytes: null if none of them was measured yet; runs not yet measured count as the mean of the
    others."""

    runs: int
    bytes: int | None


class SelectedExperiment(Schema):
    id: str
    name: str
    runs: int


class SelectedRuns(Schema):
    """all: every run of this side. new: those whose files no earlier question over the same span has read. first_at, last_at: when the
    first and the last of them ended. experiments: those with the most runs; experiment_count: number of all."""

    all: FilesToRead
    new: FilesToRead
    first_at: datetime | None
    last_at: datetime | None
    experiments: list[SelectedExperiment]
    experiment_count: int


class SelectionOfRuns(Schema):
    """against: null unless the question is a comparison. common: number of runs on both sides. new: files to read, each run once."""

    runs: SelectedRuns
    against: SelectedRuns | None
    common: int
    new: FilesToRead


def selected(lab: Lab, asked: SelectionAsked) -> SelectionOfRuns:
    """Return what the question would read, from the database and the stored summaries; no file of a run is opened. Raises Refusal."""
    runs = _rows(lab, "runs", asked.runs)
    against = _rows(lab, "against", asked.against) if asked.against else {}
    every = {**runs, **against}
    known = Store.of(lab.pk, asked.span).known({id: stamp_of(row) for id, row in every.items()})
    return SelectionOfRuns(
        runs=_side(runs, known),
        against=_side(against, known) if asked.against else None,
        common=len(runs.keys() & against.keys()),
        new=_amount(row for id, row in every.items() if id not in known),
    )


def _rows(lab: Lab, name: str, asked: RunsAsked) -> dict[str, Any]:
    """Rows of `COLUMNS`, by id."""
    with refusals_below(name):
        found = asked.find(lab)
        refuse_too_many(found.count())
        return {str(row.pk): row for row in found.values_list(*COLUMNS, named=True)}


def _side(rows: dict[str, Any], known: Collection[str]) -> SelectedRuns:
    ends = [row.finished_at for row in rows.values() if row.finished_at is not None]
    names = {row.experiment: row.experiment__name for row in rows.values()}
    most = sorted(Counter(row.experiment for row in rows.values()).items(), key=lambda one: (-one[1], names[one[0]]))
    return SelectedRuns(
        all=_amount(rows.values()),
        new=_amount(row for id, row in rows.items() if id not in known),
        first_at=min(ends, default=None),
        last_at=max(ends, default=None),
        experiments=[SelectedExperiment(id=str(id), name=names[id], runs=count) for id, count in most[:EXPERIMENTS_MAX]],
        experiment_count=len(most),
    )


def _amount(rows: Iterable[Any]) -> FilesToRead:
    sizes = [row.stored_bytes for row in rows]
    measured = [size for size in sizes if size is not None]
    if not measured:
        return FilesToRead(runs=len(sizes), bytes=None if sizes else 0)
    return FilesToRead(runs=len(sizes), bytes=round(sum(measured) * len(sizes) / len(measured)))
