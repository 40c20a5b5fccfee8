"""The study document: an experiment, its varied fields, and an optional search (docs/studies.md)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
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
from ..experiment.metrics import metric_names
from ..rules.validation import Context, examine
from .optimisation import Optimise

RUNS_MAX = 100_000
EXAMINED_MAX = 200
"""Number of points, spread over the design, that are validated when a study is created."""

VALUES_MAX = 10_000
RUNGS_MAX = 1000
"""Maximum number of loads in the coarse search from the bottom, which lists them all."""

DIGITS = 12
"""Significant digits of numbers computed by a study; these enter documents and thus hashes."""

NUMBERS: JsonDict = {"x-editor": "numbers"}
NAME = r"^[a-z][a-z0-9_]{0,49}$"
Executor = Literal["workers", "spark"]
Values = dict[str, Any]
"""Values by name of the axis."""


class Spaced(Variant):
    """Base of `linear` and `log`."""

    from_: Number = Field(alias="from", description="first value")
    to: Number = Field(description="last value")
    count: Integer = Field(ge=2, le=VALUES_MAX, description="number of values")
    whole: bool = Field(default=False, title="Integers only", description="round to integers")

    @property
    def ends(self) -> tuple[float, float]:
        return self.from_, self.to


class Listed(Variant):
    """A list of values of any type that the field accepts."""

    title: ClassVar[str] = "List"
    kind: Literal["list"] = "list"
    of: tuple[Any, ...] = Field(
        min_length=1,
        max_length=VALUES_MAX,
        title="Values",
        description="values, separated by commas",
        json_schema_extra={"x-editor": "values"},
    )

    @property
    def count(self) -> int:
        return len(self.of)

    def listed(self) -> list[Any]:
        return list(self.of)


class Linear(Spaced):
    """Evenly spaced numbers."""

    title: ClassVar[str] = "Evenly spaced"
    kind: Literal["linear"] = "linear"

    def listed(self) -> list[Any]:
        return _numbers(np.arange(self.count) / (self.count - 1), self.ends, "linear", self.whole)


class Log(Spaced):
    """Numbers with a constant ratio."""

    title: ClassVar[str] = "Logarithmically spaced"
    kind: Literal["log"] = "log"

    @model_validator(mode="after")
    def _is_positive(self) -> Self:
        _positive(self.ends)
        return self

    def listed(self) -> list[Any]:
        return _numbers(np.arange(self.count) / (self.count - 1), self.ends, "log", self.whole)


class Between(Variant):
    """Any number in a range, chosen by a random design, a search or an optimisation."""

    title: ClassVar[str] = "Range"
    kind: Literal["between"] = "between"
    from_: Number = Field(alias="from", description="smallest value")
    to: Number = Field(description="largest value")
    scale: Literal["linear", "log"] = Field(
        default="linear", description="log: values between 1 and 10 are as likely as between 10 and 100"
    )
    whole: bool = Field(default=False, title="Integers only", description="round to integers")

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.from_ >= self.to:
            raise Refusal(f"to is {self.to:g}, not above from ({self.from_:g}); give a larger value", at=("to",), value=self.to)
        if self.scale == "log":
            _positive((self.from_, self.to))
        return self

    def at(self, shares: NDArray[np.float64]) -> list[Any]:
        """The numbers at these shares (0 to 1) of the range."""
        return _numbers(shares, (self.from_, self.to), self.scale, self.whole)


AnyValues = Annotated[Listed | Linear | Log | Between, Field(discriminator="kind")]


class Fields(Model):
    """Fields of a document that are all set to one value, or multiplied by it."""

    fields: tuple[str, ...] = Field(min_length=1, max_length=100, description="JSON pointers into the document")
    multiply: bool = Field(
        default=False, title="Scale the current values", description="multiply the current numbers by the value instead of replacing them"
    )

    def apply(self, document: Mapping[str, Any], value: Any) -> dict[str, Any]:
        """Return a copy of the document with this value. Raises Refusal (path below this object)."""
        return _applied(document, "fields", self.fields, self.multiply, value)


def _applied(document: Mapping[str, Any], name: str, fields: tuple[str, ...], multiply: bool, value: Any) -> dict[str, Any]:
    """Return a copy with the fields changed. name: the list that contains the fields, for the path of a Refusal."""
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
            raise Misled(f"{what} {given!r}, which is not a number; choose another field, or omit multiply")
    product = rounded(number * factor)
    return round(product) if isinstance(number, int) else product


class Change(Fields):
    """Fields that are set to a value, or multiplied by it."""

    value: Any = Field(description="value for the fields", json_schema_extra={"x-editor": "value"})


class Axis(Fields):
    """A varied quantity: fields of the experiment, all set to the same value, or multiplied by it."""

    name: str = Field(pattern=NAME, description="lower-case letters, digits and underscores, a letter first")
    also_multiplied: tuple[str, ...] = Field(
        default=(), max_length=100, description="further fields to multiply by the value, such as rates per host"
    )
    values: AnyValues

    def apply(self, document: Mapping[str, Any], value: Any) -> dict[str, Any]:
        return _applied(super().apply(document, value), "also_multiplied", self.also_multiplied, True, value)

    @property
    def ends(self) -> tuple[Any, Any]:
        """The first and last value."""
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
    """All combinations of the axes' values; the last axis changes fastest."""

    title: ClassVar[str] = "Grid"
    kind: Literal["grid"] = "grid"


class Together(Variant):
    """Axes varied together: the first values of all axes, then the second ones, and so on."""

    title: ClassVar[str] = "Zip"
    kind: Literal["together"] = "together"


class Drawn(Variant):
    points: Integer = Field(ge=1, le=RUNS_MAX, description="number of points")
    seed: Integer = Field(default=1, ge=0, lt=2**63, description="seed of the random draw")


class Random(Drawn):
    """Independent random points."""

    title: ClassVar[str] = "Random"
    kind: Literal["random"] = "random"


class LatinHypercube(Drawn):
    """n stratified random points: each of n equal parts of an axis' range contains exactly one of them."""

    title: ClassVar[str] = "Latin hypercube"
    kind: Literal["latin_hypercube"] = "latin_hypercube"


AnyDesign = Annotated[Grid | Together | Random | LatinHypercube | Optimise, Field(discriminator="kind")]


class Sustained(Model):
    """Criteria for a sustained load. Source: Karimov 2020, section 3.4.3, with our choice of numbers."""

    bin_s: Number = Field(default=1.0, gt=0, description="width of the compared bins, in s")
    warmup_share: Number = Field(default=0.25, ge=0, lt=1, description="initial share of the input to ignore")
    growth_max: Number = Field(
        default=0.01, gt=0, description="largest growth of the queue, as a share of the offered rate, and of latency, in s/s"
    )
    rise_max: Number = Field(default=1.5, ge=1, description="largest ratio of the last third to the first third")
    stall_s: Number = Field(default=30.0, gt=0, description="time without output that counts as a stall, in s")
    queue_s: Number = Field(default=60.0, gt=0, description="largest driver queue, in seconds of the offered rate")
    qos_delay_s: Number = Field(default=30.0, gt=0, description="longest wait of the next record in the driver's queue at the end, in s")


class NoSearch(Variant):
    """Run each point without a search."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"


class SustainableLoad(Variant):
    """Search for the largest load that the system sustains, at each point."""

    title: ClassVar[str] = "Sustainable throughput"
    source: ClassVar[str] = "Karimov 2020, section 3.4"
    kind: Literal["sustainable"] = "sustainable"
    load: Axis
    start: Literal["bottom", "top"] = Field(
        default="top",
        exclude_if=lambda start: start == "top",  # documents without the field, and figures that rest on them, keep their hashes
        description="end of the range at which the search starts: bottom doubles the load, which needs few overloaded runs; "
        "top reduces it. Both find the same load",
    )
    step_down: Number = Field(default=0.8, gt=0, lt=1, description="ratio of neighbouring loads of the coarse search")
    precision: Number = Field(default=0.02, ge=1e-4, le=1, description="relative width of the bracket at which the search ends")
    shares: tuple[Number, ...] = Field(
        default=(), max_length=100, description="additional runs at these shares of the load found, such as 0.9", json_schema_extra=NUMBERS
    )
    changes_at_shares: tuple[Change, ...] = Field(
        default=(),
        max_length=100,
        description="changes of the experiment in the runs at these shares only, such as a fault or a longer horizon",
    )
    sustained: Sustained = Sustained()

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        values = self.load.values
        if not isinstance(values, Between) or values.from_ <= 0:
            raise Refusal("the load's values must be a range above 0; choose kind between", at=("load", "values"))
        if any(share <= 0 for share in self.shares):
            raise Refusal("shares must be above 0", at=("shares",), value=list(self.shares))
        if self.changes_at_shares and not self.shares:
            raise Refusal("there are no runs at shares of the load to change; give shares", at=("changes_at_shares",))
        least, top = self.ends
        if self.start == "bottom" and least < top * self.step_down**RUNGS_MAX:
            many = f"more than {RUNGS_MAX:,} loads from {least:g} to {top:g}"
            message = f"step_down is {self.step_down:g}, which gives {many}; choose a smaller one"
            raise Refusal(message, at=("step_down",), value=self.step_down)
        return self

    @property
    def ends(self) -> tuple[float, float]:
        assert isinstance(self.load.values, Between)
        return self.load.values.from_, self.load.values.to

    def rungs(self) -> Iterator[float]:
        """Yield the loads of the coarse search, from the top to the bottom."""
        least, load = self.ends
        while load > least:
            yield load
            load = max(least, rounded(load * self.step_down))
        yield least


AnySearch = Annotated[NoSearch | SustainableLoad, Field(discriminator="kind")]


class Study(Model):
    """A set of runs of one experiment with varied fields."""

    format: Literal[1] = 1
    name: str = Field(default="", max_length=200)
    description: str = Field(default="", max_length=20_000)
    experiment: dict[str, Any]
    seeds: tuple[Integer, ...] = Field(
        default=(1,), min_length=1, max_length=1000, description="seeds; each point runs once per seed", json_schema_extra=NUMBERS
    )
    axes: tuple[Axis, ...] = Field(default=(), max_length=20)
    design: AnyDesign = Field(default_factory=Grid)
    search: AnySearch = Field(default_factory=NoSearch)
    executor: Executor = Field(
        default="workers",
        title="Executed by",
        description="where runs execute: on the lab's workers or the Spark cluster's executors; the results are the same",
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        names = [axis.name for axis in self._all_axes()]
        for n, name in enumerate(names):
            if name in names[:n]:
                raise Refusal(f"two axes have the name '{name}'; give each its own", at=("axes",), code="duplicate", value=name)
        if len(set(self.seeds)) < len(self.seeds):
            raise Refusal(
                "a seed occurs twice in seeds, which would repeat the same run; give each seed once", at=("seeds",), value=list(self.seeds)
            )
        draws = isinstance(self.design, Drawn | Optimise)
        for n, axis in enumerate(self.axes):
            if isinstance(axis.values, Between) and not draws:
                raise Refusal(
                    f"values of axis '{axis.name}' are a range, which a {self.design.kind} design cannot use; choose list, linear or log, "
                    "or design random, latin_hypercube or optimise",
                    at=("axes", n, "values"),
                )
        if isinstance(self.design, Together) and len(lengths := {axis.values.count for axis in self.axes}) > 1:  # type: ignore[union-attr]
            raise Refusal(f"in a design together, all axes must have the same number of values; they have {sorted(lengths)}", at=("axes",))
        if isinstance(self.design, Optimise):
            self._can_be_optimised(self.design)
        runs = self.point_count * len(self.seeds)
        if runs > RUNS_MAX:
            message = f"these axes and seeds give {runs:,} runs; at most {RUNS_MAX:,} are allowed"
            raise Refusal(message, at=("axes",), code="budget", value=runs)
        return self

    def _can_be_optimised(self, design: Optimise) -> None:
        if not self.axes:
            raise Refusal("there is no axis to optimise over; add one", at=("axes",), code="missing")
        if not isinstance(self.search, NoSearch):
            message = f"an optimisation runs each point as it is; choose search none, or another design for search {self.search.kind}"
            raise Refusal(message, at=("search",), value=self.search.kind)
        axes = {axis.name: axis for axis in self.axes}
        for family, members in (("objectives", design.objectives), ("bounds", design.bounds)):
            for n, member in enumerate(members):
                axis = axes.get(member.metric)
                if axis is not None and not axis.is_numeric:
                    message = f"axis '{axis.name}' has values that are not numbers and cannot be compared; choose a metric"
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
        """The points of the design from number `first`, at most `count`, each as values by axis. Empty for an optimisation, which chooses
        its points at run time."""
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
            repeated[name] = times  # number of consecutive points with the same value
            times *= len(values)
        return [{name: values[n // repeated[name] % len(values)] for name, values in lists.items()} for n in numbers]

    def possible_points(self) -> list[Values]:
        """The points of the design. For an optimisation: both ends of all axes, and the points of a random design between them. A point
        does not depend on the number of points."""
        if not isinstance(self.design, Optimise):
            return self.points()
        ends: list[Values] = [{axis.name: axis.ends[end] for axis in self.axes} for end in (0, 1)]
        return ends + self._drawn_points(Random(points=self.design.trials, seed=self.design.seed), range(self.design.trials))

    def drawn_point(self, number: int) -> Values:
        """The point with this number in a random design with the optimisation's seed."""
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
        """The experiment at a point. at_share: the variant for runs at shares of the load found. Raises Refusal (path below the study)."""
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
            return document  # a missing workload is reported separately


def examine_study(document: Any, context: Context | None = None) -> tuple[Study | None, list[Problem]]:
    """Validate a study and the experiments of up to EXAMINED_MAX points. Returns the study, or None if there is an error, and all problems.
    A problem at several points is reported once, with the first of them."""
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
    """Problems of an optimisation whose metrics its runs do not measure."""
    if not isinstance(study.design, Optimise):
        return []
    known = {*(axis.name for axis in study.axes), *metric_names(experiment)}
    sought = [("objectives", study.design.objectives), ("bounds", study.design.bounds)]
    named = [(pointer("design", family, n, "metric"), member.metric) for family, members in sought for n, member in enumerate(members)]
    return [
        Problem(place, "unknown_name", f"'{name}' is neither a metric of this experiment nor an axis", name, suggestion(name, known))
        for place, name in named
        if name not in known
    ]


def load_study(document: Any, context: Context | None = None) -> Study:
    """Load a study. Raises InvalidExperiment with all problems."""
    study, problems = examine_study(document, context)
    if study is None:
        raise InvalidExperiment(problems)
    return study


def rounded(number: float) -> float:
    """Round to `DIGITS` significant digits, so that rounding errors of the computation do not show."""
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
