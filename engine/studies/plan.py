"""The trials that a study still needs, and its answer: a pure function of the study and its results so far (docs/studies.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Any

from engine.spec.experiment.experiment import Experiment
from engine.spec.study.optimisation import Optimise
from engine.spec.study.study import NoSearch, Study, SustainableLoad, Values, rounded

from .measured import Measured
from .optimisation import Tried, ask, design_of, may_ask, tried
from .search import Bracket, left, narrow
from .statistics import Interval, interval

TrialId = tuple[int, int, float | None] | tuple[int, int, float, float]
"""(point, seed, load); for a run at a share of the load found, if the experiment differs there, (point, seed, load, share)."""

Results = Mapping[TrialId, Measured]
"""Results by `Trial.id`."""


@dataclass(frozen=True)
class Strand:
    """A point of the design with one seed. Its runs depend only on its own results. point: its number in the design."""

    study: Study = field(repr=False, compare=False)
    point: int
    values: Values
    seed: int

    def trial(self, load: float | None = None, share: float | None = None) -> Trial:
        return Trial(self, load, share)

    def at_share(self, search: SustainableLoad, share: float, sustained: float) -> Trial:
        """Return the trial at a share of the load found. A trial of the search serves, if nothing else differs."""
        return self.trial(rounded(share * sustained), share if search.changes_at_shares else None)


@dataclass(frozen=True)
class Trial:
    """A run that a study needs. load: tried by a search, None without one. share: as in `TrialId`, otherwise None."""

    strand: Strand
    load: float | None = None
    share: float | None = None

    @property
    def id(self) -> TrialId:
        if self.share is None:
            return self.strand.point, self.strand.seed, self.load
        assert self.load is not None
        return self.strand.point, self.strand.seed, self.load, self.share

    @property
    def values(self) -> Values:
        """Values of all axes, including the load of a search."""
        search = self.strand.study.search
        if self.load is None or isinstance(search, NoSearch):
            return self.strand.values
        return self.strand.values | {search.load.name: self.load}

    @property
    def document(self) -> dict[str, Any]:
        return self.strand.study.document(self.values, self.strand.seed, self.share is not None)

    @cached_property
    def key(self) -> str:
        """Hash of the document with its seed: the identity of the run, in this study or another."""
        return Experiment.model_validate(self.document).hash


@dataclass(frozen=True)
class Row:
    """The result of a point with one seed. share: of the load found, None without a search. failure: why there are no metrics."""

    point: int
    values: Values
    seed: int
    metrics: dict[str, float]
    trial: TrialId
    share: float | None = None
    failure: str = ""


@dataclass(frozen=True)
class Found:
    """The result of a search at a point with one seed, and its trials: (load, sustained, reasons). failure: why the search stopped
    early."""

    point: int
    values: Values
    seed: int
    bracket: Bracket
    tried: tuple[tuple[float, bool, tuple[str, ...]], ...]
    failure: str = ""


@dataclass(frozen=True)
class Followed:
    """Progress of a strand. wanted: trials that can run now, in any order. left: number of remaining runs, including `wanted`; an estimate
    for searches. rows, found: its results so far."""

    wanted: tuple[Trial, ...]
    left: int
    rows: tuple[Row, ...] = ()
    found: Found | None = None


@dataclass(frozen=True)
class Answer:
    """rows: by point, then seed, then share. found: by point, then seed; empty without a search. trials: of an optimisation, by point."""

    rows: tuple[Row, ...]
    found: tuple[Found, ...] = ()
    trials: tuple[Tried, ...] = ()

    def sustained(self, point: int) -> tuple[float, float] | None:
        """Return minimum and median over seeds of the loads found at a point; None if a seed has none."""
        loads = [found.bracket.sustained for found in self.found if found.point == point and not found.failure]
        known = [load for load in loads if load is not None]
        return (min(known), median(known)) if known and len(known) == sum(found.point == point for found in self.found) else None

    def over_seeds(self, metric: str, point: int, share: float | None = None) -> Interval | None:
        """Return the metric's mean at a point with its interval; None if no run has it."""
        rows = [row for row in self.rows if (row.point, row.share) == (point, share) and metric in row.metrics]
        return interval([row.metrics[metric] for row in rows]) if rows else None


@dataclass(frozen=True)
class Plan:
    """wanted: trials that can run now, in any order. answer: once nothing is wanted."""

    wanted: tuple[Trial, ...]
    answer: Answer | None


def strands(study: Study) -> Iterator[Strand]:
    """Yield the strands by point, then seed; none for an optimisation (see `optimise`)."""
    for point, values in enumerate(study.points()):
        for seed in study.seeds:
            yield Strand(study, point, values, seed)


def follow(strand: Strand, results: Results) -> Followed:
    """Return what a strand needs next, given its results; other results are ignored."""
    search = strand.study.search
    return _ran(strand, results) if isinstance(search, NoSearch) else _searched(strand, search, results)


@dataclass(frozen=True)
class Optimised:
    """Progress of an optimisation. trials: all chosen ones, in order. wanted, left: as for a strand."""

    wanted: tuple[Trial, ...]
    left: int
    trials: tuple[Tried, ...]


def optimise(study: Study, chosen: Sequence[Values], results: Results) -> Optimised:
    """Return what an optimisation needs next. chosen: the known points of its first trials; they save time, since choosing again would give
    the same points."""
    design, trials = design_of(study), tried_so_far(study, chosen, results)
    while may_ask(design, trials):
        trials.append(_tried(study, len(trials), ask(study, trials), results))
    all_of = [Strand(study, trial.number, trial.values, seed).trial() for trial in trials if not trial.ended for seed in study.seeds]
    wanted = tuple(trial for trial in all_of if trial.id not in results)
    return Optimised(wanted, len(wanted) + (design.trials - len(trials)) * len(study.seeds), tuple(trials))


def tried_so_far(study: Study, chosen: Sequence[Values], results: Results) -> list[Tried]:
    """Return the results of an optimisation's trials at these points, in order."""
    return [_tried(study, number, values, results) for number, values in enumerate(chosen)]


def _tried(study: Study, number: int, values: Values, results: Results) -> Tried:
    return tried(study, number, values, {seed: results[number, seed, None] for seed in study.seeds if (number, seed, None) in results})


def plan(study: Study, results: Results, chosen: Sequence[Values] = ()) -> Plan:
    """Return what the study needs next, given these results. chosen: as for `optimise`."""
    if isinstance(study.design, Optimise):
        optimised = optimise(study, chosen, results)
        return Plan(optimised.wanted, None if optimised.wanted else _optimum(study, optimised.trials, results))
    followed = [follow(strand, results) for strand in strands(study)]
    wanted = tuple(trial for one in followed for trial in one.wanted)
    return Plan(wanted, None if wanted else _answer(followed))


def so_far(study: Study, results: Results) -> Answer:
    """Return the answer so far, even if trials are still wanted."""
    if isinstance(study.design, Optimise):
        return _optimum(study, optimise(study, (), results).trials, results)
    return _answer([follow(strand, results) for strand in strands(study)])


def _optimum(study: Study, trials: Sequence[Tried], results: Results) -> Answer:
    made = [Strand(study, trial.number, trial.values, seed).trial() for trial in trials for seed in study.seeds]
    return Answer(tuple(_row(trial, results[trial.id]) for trial in made if trial.id in results), trials=tuple(trials))


def _answer(followed: Sequence[Followed]) -> Answer:
    return Answer(tuple(row for one in followed for row in one.rows), tuple(one.found for one in followed if one.found))


def _ran(strand: Strand, results: Results) -> Followed:
    trial = strand.trial()
    result = results.get(trial.id)
    return Followed((trial,), 1) if result is None else Followed((), 0, (_row(trial, result),))


def _searched(strand: Strand, search: SustainableLoad, results: Results) -> Followed:
    verdicts: dict[float, bool] = {}
    tried: list[tuple[float, bool, tuple[str, ...]]] = []

    def found(bracket: Bracket, failure: str = "") -> Found:
        return Found(strand.point, strand.values, strand.seed, bracket, tuple(tried), failure)

    while (bracket := narrow(search, verdicts)).wanted is not None:
        trial = strand.trial(bracket.wanted)
        result = results.get(trial.id)
        if result is None:
            return Followed((trial,), left(search, verdicts) + len(search.shares), found=found(bracket))
        if result.verdict is None:
            return Followed((), 0, found=found(bracket, f"at load {bracket.wanted:g}: {result.failure}"))
        verdicts[bracket.wanted] = result.verdict.sustained
        tried.append((bracket.wanted, result.verdict.sustained, result.verdict.reasons))
    sustained = bracket.sustained
    shares = [] if sustained is None else [(share, strand.at_share(search, share, sustained)) for share in search.shares]
    wanted = {trial.id: trial for _, trial in shares if trial.id not in results}
    rows = tuple(_row(trial, results[trial.id], share) for share, trial in shares if trial.id in results)
    return Followed(tuple(wanted.values()), len(wanted), rows, found(bracket))


def _row(trial: Trial, result: Measured, share: float | None = None) -> Row:
    return Row(trial.strand.point, trial.values, trial.strand.seed, result.metrics, trial.id, share, result.failure)
