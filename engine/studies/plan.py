"""What a study still needs, and its answer: a pure function of the study and of what was measured so far (docs/studies.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Any

from engine.spec.experiment import Experiment
from engine.spec.study import NoSearch, Study, SustainableLoad, Values, rounded

from .measured import Measured
from .search import Bracket, narrow
from .statistics import Interval, interval

Results = Mapping[str, Measured]
"""What was measured, by `Trial.key`."""


@dataclass(frozen=True)
class Trial:
    """A run that a study needs. point: its number in the design. values: of all axes, the load of a search included."""

    point: int
    values: Values
    seed: int
    study: Study = field(repr=False, compare=False)

    @property
    def document(self) -> dict[str, Any]:
        return self.study.document(self.values, self.seed)

    @cached_property
    def key(self) -> str:
        """Hash of the document with its seed: the identity of the run."""
        return Experiment.model_validate(self.document).hash


@dataclass(frozen=True)
class Row:
    """The result of a point with one seed. share: of the load that was found, None for a point without a search."""

    point: int
    values: Values
    seed: int
    metrics: dict[str, float]
    share: float | None = None


@dataclass(frozen=True)
class Found:
    """What a search found at a point with one seed, and the trials that it made: (load, sustained, reasons)."""

    point: int
    values: Values
    seed: int
    bracket: Bracket
    tried: tuple[tuple[float, bool, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Answer:
    """rows: by point, then seed, then share. found: by point, then seed; none without a search."""

    rows: tuple[Row, ...]
    found: tuple[Found, ...] = ()

    def sustained(self, point: int) -> tuple[float, float] | None:
        """The least and the median over seeds of the loads found at a point; None where a seed has none."""
        loads = [found.bracket.sustained for found in self.found if found.point == point]
        known = [load for load in loads if load is not None]
        return (min(known), median(known)) if known and len(known) == len(loads) else None

    def over_seeds(self, metric: str, point: int, share: float | None = None) -> Interval | None:
        """The metric's mean at a point and how much chance is in it; None if no run has it."""
        rows = [row for row in self.rows if (row.point, row.share) == (point, share) and metric in row.metrics]
        return interval([row.metrics[metric] for row in rows]) if rows else None


@dataclass(frozen=True)
class Plan:
    """wanted: trials that can be run now, in any order. answer: once nothing is wanted. done: trials of the study that have a result."""

    wanted: tuple[Trial, ...]
    done: int
    answer: Answer | None


def plan(study: Study, results: Results) -> Plan:
    """What is wanted next, given these results; results of other runs do not matter."""
    planner = _Planner(study, results)
    rows: list[Row] = []
    found: list[Found] = []
    for point, values in enumerate(study.points()):
        for seed in study.seeds:
            if isinstance(study.search, NoSearch):
                rows += planner.rows(point, values, seed)
            else:
                found += planner.searched(study.search, point, values, seed, rows)
    wanted = tuple(planner.wanted.values())
    return Plan(wanted, len(planner.done), None if wanted else Answer(tuple(rows), tuple(found)))


class _Planner:
    def __init__(self, study: Study, results: Results):
        self.study, self.results = study, results
        self.wanted: dict[str, Trial] = {}
        self.done: set[str] = set()

    def measured(self, point: int, values: Values, seed: int) -> Measured | None:
        """The result, or None, and then it is wanted."""
        trial = Trial(point, values, seed, self.study)
        result = self.results.get(trial.key)
        if result is None:
            self.wanted.setdefault(trial.key, trial)
        else:
            self.done.add(trial.key)
        return result

    def rows(self, point: int, values: Values, seed: int, share: float | None = None) -> Iterable[Row]:
        result = self.measured(point, values, seed)
        return [] if result is None else [Row(point, values, seed, result.metrics, share)]

    def searched(self, search: SustainableLoad, point: int, values: Values, seed: int, rows: list[Row]) -> Iterable[Found]:
        verdicts: dict[float, bool] = {}
        tried: list[tuple[float, bool, tuple[str, ...]]] = []
        while (bracket := narrow(search, verdicts)).wanted is not None:
            result = self.measured(point, values | {search.load.name: bracket.wanted}, seed)
            if result is None:
                return []
            assert result.verdict is not None
            verdicts[bracket.wanted] = result.verdict.sustained
            tried.append((bracket.wanted, result.verdict.sustained, result.verdict.reasons))
        if bracket.sustained is not None:
            for share in search.shares:
                rows += self.rows(point, values | {search.load.name: rounded(share * bracket.sustained)}, seed, share)
        return [Found(point, values, seed, bracket, tuple(tried))]
