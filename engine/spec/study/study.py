"""The study document: an experiment, what is varied in it, and what is looked for (docs/studies.md)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic.config import JsonDict

from engine.core.mathematics import exp, ln
from engine.core.random import RandomStream

from ..base.operator import Model
from ..base.pointers import Misled, changed, found
from ..base.problems import InvalidExperiment, Problem, Refusal, pointer, refusals_below, suggestion
from ..base.structure import check
from ..base.units import Integer, Number
from ..base.variant import Variant
from ..experiment.experiment import Experiment
from ..rules.validation import Context, examine
from .metrics import metric_names
from .optimisation import Optimise

RUNS_MAX = 100_000
EXAMINED_MAX = 200
"""So many points, spread over the design, are examined when a study is made."""

VALUES_MAX = 10_000
DIGITS = 12
"""Significant digits of numbers that a study computes: they stand in documents, and so in hashes."""

NUMBERS: JsonDict = {"x-editor": "numbers"}
NAME = r"^[a-z][a-z0-9_]{0,49}$"
Executor = Literal["workers", "spark"]
Values = dict[str, Any]
"""A value by the name of its axis."""


class Spaced(Variant):
    """What `linear` and `log` have in common."""

    from_: Number = Field(alias="from", description="the first value")
    to: Number = Field(description="the last value")
    count: Integer = Field(ge=2, le=VALUES_MAX, description="how many values")
    whole: bool = Field(default=False, description="rounded to whole numbers")

    @property
    def ends(self) -> tuple[float, float]:
        return self.from_, self.to


class Listed(Variant):
    """These values, one after the other; of any type that the field takes."""

    title: ClassVar[str] = "List"
    kind: Literal["list"] = "list"
    of: tuple[Any, ...] = Field(
        min_length=1, max_length=VALUES_MAX, title="Values", description="separated by commas", json_schema_extra={"x-editor": "values"}
    )

    @property
    def count(self) -> int:
        return len(self.of)

    def listed(self) -> list[Any]:
        return list(self.of)


class Linear(Spaced):
    """Numbers at equal distances."""

    title: ClassVar[str] = "Evenly spaced"
    kind: Literal["linear"] = "linear"

    def listed(self) -> list[Any]:
        return _numbers(np.arange(self.count) / (self.count - 1), self.ends, "linear", self.whole)


class Log(Spaced):
    """Numbers that grow by equal factors."""

    title: ClassVar[str] = "By equal factors"
    kind: Literal["log"] = "log"

    @model_validator(mode="after")
    def _is_positive(self) -> Self:
        _positive(self.ends)
        return self

    def listed(self) -> list[Any]:
        return _numbers(np.arange(self.count) / (self.count - 1), self.ends, "log", self.whole)


class Between(Variant):
    """Any number between two ends; random designs and searches choose."""

    title: ClassVar[str] = "Between"
    kind: Literal["between"] = "between"
    from_: Number = Field(alias="from", description="the least value")
    to: Number = Field(description="the largest value")
    scale: Literal["linear", "log"] = Field(default="linear", description="log: as likely to lie between 1 and 10 as between 10 and 100")
    whole: bool = Field(default=False, description="rounded to whole numbers")

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.from_ >= self.to:
            raise Refusal(f"to is {self.to:g}, not above from ({self.from_:g}); give a larger one", at=("to",), value=self.to)
        if self.scale == "log":
            _positive((self.from_, self.to))
        return self

    def at(self, shares: NDArray[np.float64]) -> list[Any]:
        """The numbers at these shares (0 to 1) of the way."""
        return _numbers(shares, (self.from_, self.to), self.scale, self.whole)


AnyValues = Annotated[Listed | Linear | Log | Between, Field(discriminator="kind")]


class Fields(Model):
    """Fields of a document that are set to one value, or multiplied by it."""

    fields: tuple[str, ...] = Field(min_length=1, max_length=100, description="JSON pointers into the document")
    multiply: bool = Field(default=False, description="the numbers that stand there are multiplied by the value")

    def apply(self, document: Mapping[str, Any], value: Any) -> dict[str, Any]:
        """The document with this value; the one given stays as it is. Raises Refusal, its place below this object."""
        return _applied(document, "fields", self.fields, self.multiply, value)


def _applied(document: Mapping[str, Any], name: str, fields: tuple[str, ...], multiply: bool, value: Any) -> dict[str, Any]:
    """name: of the list in which the fields stand."""
    made = dict(document)
    for n, field in enumerate(fields):
        try:
            made = changed(made, field, _product(found(made, field), value) if multiply else value)
        except Misled as misled:
            raise Refusal(str(misled), at=(name, n), code="unknown_field", value=field, hint=misled.hint) from None
    return made


def _product(number: Any, factor: Any) -> float | int:
    for what, given in (("the field holds", number), ("the factor is", factor)):
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise Misled(f"{what} {given!r}, which is no number to multiply; choose another field, or leave out multiply")
    product = rounded(number * factor)
    return round(product) if isinstance(number, int) else product


class Change(Fields):
    """Fields that are set to a value, or multiplied by it."""

    value: Any = Field(description="a value that the fields take", json_schema_extra={"x-editor": "value"})


class Axis(Fields):
    """What is varied: fields of the experiment, all set to the same value, or multiplied by it."""

    name: str = Field(pattern=NAME, description="letters, digits and underscores")
    also_multiplied: tuple[str, ...] = Field(
        default=(), max_length=100, description="further fields, multiplied by the value where the others are set to it: rates per worker"
    )
    values: AnyValues

    def apply(self, document: Mapping[str, Any], value: Any) -> dict[str, Any]:
        return _applied(super().apply(document, value), "also_multiplied", self.also_multiplied, True, value)

    @property
    def ends(self) -> tuple[Any, Any]:
        """The first and the last value."""
        if isinstance(self.values, Between):
            low, high = self.values.at(np.array([0.0, 1.0]))
            return low, high
        listed = self.values.listed()
        return listed[0], listed[-1]

    @property
    def is_numeric(self) -> bool:
        numbers = [] if isinstance(self.values, Between) else self.values.listed()
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in numbers)


class Grid(Variant):
    """Each value of an axis with each of all others; the last axis changes fastest."""

    title: ClassVar[str] = "Grid"
    kind: Literal["grid"] = "grid"


class Together(Variant):
    """The first values of all axes, then the second ones, and so on."""

    title: ClassVar[str] = "Side by side"
    kind: Literal["together"] = "together"


class Drawn(Variant):
    points: Integer = Field(ge=1, le=RUNS_MAX, description="how many points")
    seed: Integer = Field(default=1, ge=0, lt=2**63, description="another seed draws others")


class Random(Drawn):
    """Points drawn one by one, each independent of the others."""

    title: ClassVar[str] = "Random"
    kind: Literal["random"] = "random"


class LatinHypercube(Drawn):
    """Points drawn so that on each axis every n-th part of its range has just one of n points."""

    title: ClassVar[str] = "Latin hypercube"
    kind: Literal["latin_hypercube"] = "latin_hypercube"


AnyDesign = Annotated[Grid | Together | Random | LatinHypercube | Optimise, Field(discriminator="kind")]


class Sustained(Model):
    """When a load counts as sustained. Source: Karimov 2020, section 3.4.3; the numbers are our reading."""

    bin_s: Number = Field(default=1.0, gt=0, description="width of the bins that are compared")
    warmup_share: Number = Field(default=0.25, ge=0, lt=1, description="this share of the input, the first, does not count")
    growth_max: Number = Field(default=0.01, gt=0, description="of the queue, as a share of the offered rate; of latency, in s/s")
    rise_max: Number = Field(default=1.5, ge=1, description="last against first third")
    stall_s: Number = Field(default=30.0, gt=0, description="nothing came out for so long")
    queue_s: Number = Field(default=60.0, gt=0, description="most that the driver's queue holds, in seconds of the offered rate")
    qos_delay_s: Number = Field(default=30.0, gt=0, description="most that the next record in the driver's queue has waited at the end")


class NoSearch(Variant):
    """Each point is run as it is."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"


class SustainableLoad(Variant):
    """At each point, the largest load that the system carries for ever."""

    title: ClassVar[str] = "Sustainable throughput"
    source: ClassVar[str] = "Karimov 2020, section 3.4"
    kind: Literal["sustainable"] = "sustainable"
    load: Axis
    step_down: Number = Field(default=0.8, gt=0, lt=1, description="a load that is too high is multiplied by this")
    precision: Number = Field(default=0.02, ge=1e-4, le=1, description="the search ends when the bracket is narrower than this share")
    shares: tuple[Number, ...] = Field(
        default=(), max_length=100, description="and runs at these shares of the load found, 0.9 say", json_schema_extra=NUMBERS
    )
    changes_at_shares: tuple[Change, ...] = Field(
        default=(), max_length=100, description="of the experiment, in the runs at these shares alone: a fault, a longer horizon"
    )
    sustained: Sustained = Sustained()

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        values = self.load.values
        if not isinstance(values, Between) or values.from_ <= 0:
            raise Refusal("the load's values must be a range above 0 (kind between), for the search to choose from", at=("load", "values"))
        if any(share <= 0 for share in self.shares):
            raise Refusal("shares must be above 0", at=("shares",), value=list(self.shares))
        if self.changes_at_shares and not self.shares:
            raise Refusal("no runs are made at shares of the load, so nothing could change there; give shares", at=("changes_at_shares",))
        return self

    @property
    def ends(self) -> tuple[float, float]:
        assert isinstance(self.load.values, Between)
        return self.load.values.from_, self.load.values.to


AnySearch = Annotated[NoSearch | SustainableLoad, Field(discriminator="kind")]


class Study(Model):
    """Runs of runs."""

    format: Literal[1] = 1
    name: str = Field(default="", max_length=200)
    description: str = Field(default="", max_length=20_000)
    experiment: dict[str, Any]
    seeds: tuple[Integer, ...] = Field(
        default=(1,), min_length=1, max_length=1000, description="each point is run with each of these", json_schema_extra=NUMBERS
    )
    axes: tuple[Axis, ...] = Field(default=(), max_length=20)
    design: AnyDesign = Field(default_factory=Grid)
    search: AnySearch = Field(default_factory=NoSearch)
    executor: Executor = Field(
        default="workers",
        title="Executed by",
        description="whose processes make the runs: the lab's workers, or the executors of the Spark cluster; the results are the same",
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        names = [axis.name for axis in self._all_axes()]
        for n, name in enumerate(names):
            if name in names[:n]:
                raise Refusal(f"two axes have the name '{name}'; give each its own", at=("axes",), code="duplicate", value=name)
        if len(set(self.seeds)) < len(self.seeds):
            raise Refusal("a seed stands twice in seeds; the second run would be the first again", at=("seeds",), value=list(self.seeds))
        draws = isinstance(self.design, Drawn | Optimise)
        for n, axis in enumerate(self.axes):
            if isinstance(axis.values, Between) and not draws:
                raise Refusal(
                    f"values of axis '{axis.name}' are a range, from which a {self.design.kind} design takes none; list or space them, or "
                    "choose random, latin_hypercube or optimise",
                    at=("axes", n, "values"),
                )
        if isinstance(self.design, Together) and len(lengths := {axis.values.count for axis in self.axes}) > 1:  # type: ignore[union-attr]
            raise Refusal(f"side by side, all axes must have the same number of values; they have {sorted(lengths)}", at=("axes",))
        if isinstance(self.design, Optimise):
            self._can_be_optimised(self.design)
        runs = self.point_count * len(self.seeds)
        if runs > RUNS_MAX:
            message = f"these axes and seeds give {runs:,} runs; at most {RUNS_MAX:,} are allowed"
            raise Refusal(message, at=("axes",), code="budget", value=runs)
        return self

    def _can_be_optimised(self, design: Optimise) -> None:
        if not self.axes:
            raise Refusal("there is no axis, so there is nothing to choose; add one", at=("axes",), code="missing")
        if not isinstance(self.search, NoSearch):
            message = f"an optimisation runs each point as it is; choose search none, or another design for search {self.search.kind}"
            raise Refusal(message, at=("search",), value=self.search.kind)
        axes = {axis.name: axis for axis in self.axes}
        for family, members in (("objectives", design.objectives), ("bounds", design.bounds)):
            for n, member in enumerate(members):
                axis = axes.get(member.metric)
                if axis is not None and not axis.is_numeric:
                    message = f"axis '{axis.name}' has values that are no numbers, so none is larger than another; choose a metric"
                    raise Refusal(message, at=("design", family, n, "metric"), code="wrong_type", value=axis.name)

    def _all_axes(self) -> list[Axis]:
        return [*self.axes, *([self.search.load] if isinstance(self.search, SustainableLoad) else [])]

    @property
    def point_count(self) -> int:
        if isinstance(self.design, Drawn):
            return self.design.points
        if isinstance(self.design, Optimise):
            return self.design.trials
        lengths = [axis.values.count for axis in self.axes]  # type: ignore[union-attr]
        if isinstance(self.design, Together):
            return lengths[0] if lengths else 1
        count = 1
        for length in lengths:
            count *= length
        return count

    def points(self, first: int = 0, count: int | None = None) -> list[Values]:
        """The design's points, or so many from `first` on, each a value by the name of its axis; none of an optimisation, which chooses
        them as it goes."""
        if isinstance(self.design, Optimise):
            return []
        numbers = range(self.point_count)[first : None if count is None else first + count]
        if isinstance(self.design, Drawn):
            return self._drawn_points(self.design, numbers)
        lists = {axis.name: axis.values.listed() for axis in self.axes}  # type: ignore[union-attr]
        if isinstance(self.design, Together):
            return [{name: values[n] for name, values in lists.items()} for n in numbers]
        times, repeated = 1, {}
        for name, values in reversed(lists.items()):
            repeated[name] = times  # each value stands for so many points in a row
            times *= len(values)
        return [{name: values[n // repeated[name] % len(values)] for name, values in lists.items()} for n in numbers]

    def possible_points(self) -> list[Values]:
        """The design's points; of an optimisation both ends of all axes, and what a random design would draw between them: a point does
        not depend on how many there are."""
        if not isinstance(self.design, Optimise):
            return self.points()
        ends: list[Values] = [{axis.name: axis.ends[end] for axis in self.axes} for end in (0, 1)]
        return ends + self._drawn_points(Random(points=self.design.trials, seed=self.design.seed), range(self.design.trials))

    def drawn_point(self, number: int) -> Values:
        """The one with this number of a random design with the optimisation's seed."""
        return self.possible_points()[2 + number]

    def _drawn_points(self, design: Drawn, numbers: range) -> list[Values]:
        drawn = {axis.name: self._drawn(axis, design, numbers) for axis in self.axes}
        return [{name: values[n] for name, values in drawn.items()} for n in range(len(numbers))]

    def _drawn(self, axis: Axis, design: Drawn, numbers: range) -> list[Any]:
        stream = RandomStream(design.seed, "study", axis.name)
        shares = (stream.words(np.arange(numbers.start, numbers.stop)) >> np.uint64(11)).astype(np.float64) / float(1 << 53)
        if isinstance(design, LatinHypercube):
            words = RandomStream(design.seed, "study", axis.name, "order").words(np.arange(design.points))
            order = np.argsort(words, kind="stable")[numbers.start : numbers.stop]
            shares = (order + shares) / design.points
        if isinstance(axis.values, Between):
            return axis.values.at(shares)
        listed = axis.values.listed()
        return [listed[int(share * len(listed))] for share in shares]

    def document(self, values: Mapping[str, Any], seed: int, at_share: bool = False) -> dict[str, Any]:
        """The experiment at a point; at_share: as it is run at a share of the load found. Raises Refusal, its place below the study."""
        document = self.experiment
        for n, axis in enumerate(self._all_axes()):
            if axis.name in values:
                with refusals_below(*(("axes", n) if n < len(self.axes) else ("search", "load"))):
                    document = axis.apply(document, values[axis.name])
        if at_share and isinstance(self.search, SustainableLoad):
            for n, change in enumerate(self.search.changes_at_shares):
                with refusals_below("search", "changes_at_shares", n):
                    document = change.apply(document, change.value)
        try:
            return changed(document, "/workload/seed", seed)
        except Misled:
            return document  # has no workload: its own problem


def examine_study(document: Any, context: Context | None = None) -> tuple[Study | None, list[Problem]]:
    """The study, None if there is an error, and all problems. The experiments of up to EXAMINED_MAX points are examined; what is wrong at
    several is told once, with the first point at which it is."""
    study, problems = check(Study, document)
    if study is None:
        return None, problems
    base = examine(study.experiment, context)
    below = [_below_experiment(problem) for problem in base.problems]
    if base.experiment is None:
        return None, below
    problems += _unknown_metrics(study, base.experiment)
    ends = [{study.search.load.name: end} for end in study.search.ends] if isinstance(study.search, SustainableLoad) else [{}]
    changed_too = [False, True] if isinstance(study.search, SustainableLoad) and study.search.changes_at_shares else [False]
    seen: set[tuple[str, str]] = set()
    points = study.possible_points()
    for point in points[:: -(-len(points) // EXAMINED_MAX)]:
        for end, at_share in itertools.product(ends, changed_too):
            values = point | end
            try:
                findings = examine(study.document(values, study.seeds[0], at_share), context)
            except Refusal as refusal:
                return None, [*below, Problem(pointer(*refusal.at), refusal.code, str(refusal), refusal.value, refusal.hint)]
            for problem in findings.problems:
                if problem.severity == "error" and (problem.pointer, problem.code) not in seen:
                    seen.add((problem.pointer, problem.code))
                    where = ", ".join(f"{name} = {value!r}" for name, value in values.items())
                    problems.append(_below_experiment(problem, f"at {where}: " if where else ""))
    return (None if problems else study), [*problems, *below]


def _unknown_metrics(study: Study, experiment: Experiment) -> list[Problem]:
    """Metrics of an optimisation that its runs will not measure."""
    if not isinstance(study.design, Optimise):
        return []
    known = {*(axis.name for axis in study.axes), *metric_names(experiment)}
    sought = [("objectives", study.design.objectives), ("bounds", study.design.bounds)]
    named = [(pointer("design", family, n, "metric"), member.metric) for family, members in sought for n, member in enumerate(members)]
    return [
        Problem(place, "unknown_name", f"no run of this experiment measures '{name}', nor is it an axis", name, suggestion(name, known))
        for place, name in named
        if name not in known
    ]


def load_study(document: Any, context: Context | None = None) -> Study:
    """Raises InvalidExperiment with all problems."""
    study, problems = examine_study(document, context)
    if study is None:
        raise InvalidExperiment(problems)
    return study


def rounded(number: float) -> float:
    """To `DIGITS` significant digits: what is computed on the way to a number does not show in it."""
    return float(f"{number:.{DIGITS}g}")


def _below_experiment(problem: Problem, where: str = "") -> Problem:
    return Problem(
        f"/experiment{problem.pointer}", problem.code, f"{where}{problem.message}", problem.value, problem.hint, problem.severity
    )


def _positive(ends: tuple[float, float]) -> None:
    for name, end in zip(("from", "to"), ends, strict=True):
        if end <= 0:
            raise Refusal(f"{name} is {end:g}; on a logarithmic scale it must be above 0", at=(name,), value=end)


def _numbers(shares: NDArray[np.float64], ends: tuple[float, float], scale: str, whole: bool) -> list[Any]:
    first, last = ends
    if scale == "log":
        low, high = ln(np.array(ends, np.float64))
        numbers = exp(low + shares * (high - low))
    else:
        numbers = first + shares * (last - first)
    return [round(number) if whole else rounded(number) for number in numbers.tolist()]
