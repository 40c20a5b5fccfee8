"""Evaluations of a figure: what learned models are worth, and what their choices bring (docs/figures.md, docs/learned-placement.md).

A document says what is particular about an evaluation. How large corpora and networks are follows from the scale.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number
from ..base.variant import Variant

NAME = r"^[A-Za-z0-9][A-Za-z0-9 ,_.-]{0,59}$"

Metric = Literal["throughput", "processing_latency", "end_to_end_latency", "flows", "success"]
METRICS: tuple[Metric, ...] = ("throughput", "processing_latency", "end_to_end_latency", "flows", "success")
Predictor = Literal[
    "costream",
    "hosts exchanged",
    "placement exchanged",
    "flat authors",
    "flat paper",
    "flat strong",
    "queueing",
    "nearest",
    "constant",
    "another run",
]
Grouping = Literal["query", "cpu_percent", "ram_mb", "mbit_per_s", "latency_ms"]
Goal = Literal["throughput", "processing_latency", "end_to_end_latency"]


class Bounds(Model):
    """From the least to the most, both included."""

    least: Number | None = None
    most: Number | None = None


class OfHosts(Model):
    """Traces all of whose hosts have these features."""

    cpu_percent: Bounds = Bounds()
    ram_mb: Bounds = Bounds()
    mbit_per_s: Bounds = Bounds()
    latency_ms: Bounds = Bounds()

    def allows(self, host: Any) -> bool:
        """host: with these features as attributes."""
        for name in type(self).model_fields:
            bounds, value = getattr(self, name), getattr(host, name)
            if (bounds.least is not None and value < bounds.least) or (bounds.most is not None and value > bounds.most):
                return False
        return True


class Models(Model):
    """The networks, and how they are trained. Fields without a value follow from the scale."""

    hidden: Integer | None = Field(default=None, ge=1, le=1024, description="width of states")
    members: Integer | None = Field(default=None, ge=1, le=25, description="models of each cost, which differ in their seed")
    epochs: Integer | None = Field(default=None, ge=1, le=10_000, description="at most")
    batch: Integer | None = Field(default=None, ge=1, le=4096, description="graphs of a step of training")
    logarithmic: bool = Field(default=False, description="scale logarithms of features; the source scales the values")
    hosts: Literal["features", "nodes", "none"] = Field(default="features", description="what the graph has of hosts")
    passing: Literal["staged", "traditional"] = Field(default="staged", description="the steps of Algorithm 1, or all neighbours at once")
    rounds: Integer = Field(default=3, ge=1, le=20, description="of traditional passing")


def _quoted(names: Collection[str]) -> str:
    return " and ".join(f"'{name}'" for name in sorted(names))


class TestSet(Model):
    """Traces of another draw, on which models are tried."""

    draw: str = Field(description="name of a draw (manage.py corpus make --draw)")
    traces: Integer | None = Field(default=None, ge=1, le=1_000_000)


class TunedOn(Model):
    """Further training on traces of other draws, of each as many (specification 3.8)."""

    draws: tuple[str, ...] = Field(min_length=1)
    traces: Integer | None = Field(default=None, ge=10, le=1_000_000)
    epochs: Integer | None = Field(default=None, ge=1, le=10_000)
    rate: Number = Field(default=0.002, gt=0, le=1)


class Case(Model):
    """One way to train and to try."""

    models: dict[str, Any] = Field(default_factory=dict, description="settings that differ from those of the evaluation")
    learns_from: OfHosts = Field(default=OfHosts(), description="traces that are left out of training where their hosts are others")
    training_traces: Integer | None = Field(default=None, ge=10, description="the first so many traces of training; default: all")
    shuffled: bool = Field(default=False, description="train and validate on labels in a random order, as a control")
    selectivities: Literal["estimated", "measured"] = Field(
        default="estimated", description="from samples, before a run, or, as in the source's corpus, as counted in it"
    )
    tuned_on: TunedOn | None = None
    tested_on: TestSet | None = Field(default=None, description="default: the tenth of the corpus that is for tests")


class Accuracy(Variant):
    """How far predictions are off."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("case", "metric", "predictor", "group", "bin")
    SCORES: ClassVar[tuple[str, ...]] = (
        "q50",
        "q95",
        "accuracy",
        "precision",
        "recall",
        "count",
        "clipped",
        "good",
        "q50_below_1",
        "q50_from_1",
        "learned_from",
    )

    kind: Literal["accuracy"] = "accuracy"
    traces: Integer | None = Field(default=None, ge=100, le=10_000_000, description="of the corpus; follows from the scale")
    seed: Integer = 1
    models: Models = Models()
    metrics: tuple[Metric, ...] = Field(default=METRICS, min_length=1)
    predictors: tuple[Predictor, ...] = Field(default=("costream", "flat paper"), min_length=1)
    groups: tuple[Grouping, ...] = Field(default=(), description="what the errors are also told apart by")
    cases: dict[Annotated[str, Field(pattern=NAME)], Case] = Field(default={"seen": Case()}, min_length=1, max_length=50)

    @model_validator(mode="after")
    def _has_settings(self) -> Accuracy:
        for name, case in self.cases.items():
            for setting in case.models:
                if setting not in Models.model_fields:
                    known = ", ".join(Models.model_fields)
                    raise Refusal(
                        f"models have no setting '{setting}'; they have {known}",
                        at=("cases", name, "models", setting),
                        code="unknown_field",
                        value=setting,
                    )
            Models.model_validate(self.models.model_dump() | case.models)
            if case.selectivities == "measured" and (told := {"success", "flows"} & set(self.metrics)):
                raise Refusal(
                    f"selectivities are 'measured', which tells whether operators kept up and anything arrived; leave {_quoted(told)} out",
                    at=("cases", name, "selectivities"),
                    code="tells_the_label",
                    value=case.selectivities,
                )
        return self

    def models_of(self, case: Case) -> Models:
        return Models.model_validate(self.models.model_dump() | case.models)


class Speedups(Variant):
    """How much faster placements are that a predictor chose than the first placement, both measured."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("query", "chooser")
    SCORES: ClassVar[tuple[str, ...]] = (
        "speedup",
        "speedup_of_kept",
        "speedup_mixed",
        "q25",
        "q75",
        "failed",
        "kept",
        "regret",
        "relaxed",
        "count",
    )

    kind: Literal["speedups"] = "speedups"
    traces: Integer | None = Field(default=None, ge=100, le=10_000_000, description="of the corpus; follows from the scale")
    seed: Integer = 1
    models: Models = Models()
    goal: Goal = "processing_latency"
    queries: Integer | None = Field(default=None, ge=1, le=1000, description="of each type; follows from the scale")
    candidates: Integer = Field(default=25, ge=1, le=1000, description="placements that are drawn besides the first")
    filtered: bool = Field(default=True, description="drop candidates that are predicted to fail or to fall behind")


Share = Annotated[Number, Field(gt=0, le=1)]
Rate = Annotated[Integer, Field(ge=1, le=1_000_000)]
Stored = Annotated[Number, Field(ge=0, le=3600)]
Window = Annotated[Number, Field(ge=1, le=600)]


class Monitoring(Variant):
    """How long an online monitor takes until a query that began somewhere is as fast as one that Costream placed."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("stored_s", "window_s", "point", "selectivity", "rate_per_s")
    SCORES: ClassVar[tuple[str, ...]] = (
        "slowdown",
        "overhead_s",
        "overhead_or_length_s",
        "settled_s",
        "moves",
        "state_mb",
        "reached",
        "chosen_ms",
        "start_ms",
        "pick_failed",
        "start_failed",
    )

    kind: Literal["monitoring"] = "monitoring"
    traces: Integer | None = Field(default=None, ge=100, le=10_000_000, description="of the corpus; follows from the scale")
    seed: Integer = 1
    models: Models = Models()
    candidates: Integer = Field(default=25, ge=1, le=1000, description="placements that Costream chooses from, besides the first")
    selectivities: tuple[Share, ...] = Field(default=(0.05, 0.25, 0.5, 0.75, 0.95), min_length=1)
    rates_per_s: tuple[Rate, ...] = Field(default=(400, 1600, 6400, 12_800, 25_600), min_length=1)
    stored_s: tuple[Stored, ...] = Field(default=(0,), min_length=1, description="windows of an aggregate behind the filter; 0: none")
    windows_s: tuple[Window, ...] = Field(
        default=(30,), min_length=1, description="over which the monitor measures; also its period; above 10, a multiple of 10"
    )
    queries: Integer = Field(default=1, ge=1, le=100, description="of each, with hosts and placements of their own")
    points: Integer | None = Field(default=None, ge=1, le=10_000, description="the first so many, low rates first; follows from the scale")
    length_s: Number = Field(default=600, ge=60, le=3600, description="of a run")

    @model_validator(mode="after")
    def _can_be_run(self) -> Monitoring:
        for name in ("selectivities", "rates_per_s", "stored_s", "windows_s"):
            values = getattr(self, name)
            for n, value in enumerate(values):
                if value in values[:n]:
                    raise Refusal(f"{value:g} is given twice; give it once", at=(name, n), code="duplicate", value=value)
        for n, window_s in enumerate(self.windows_s):
            if window_s > 10 and window_s % 10:
                message = f"a window of {window_s:g} s does not consist of samples of 10 s; give at most 10, or a multiple of 10"
                raise Refusal(message, at=("windows_s", n), code="out_of_range", value=window_s)
        return self


class ShortRuns(Variant):
    """How far labels of short runs are from those of runs as long as the source's (specification 5.4)."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("metric",)
    SCORES: ClassVar[tuple[str, ...]] = ("q50", "q95", "accuracy", "count")

    kind: Literal["short_runs"] = "short_runs"
    experiments: Integer | None = Field(default=None, ge=1, le=100_000, description="that are run twice; follows from the scale")
    seed: Integer = 1
    length_s: Integer = Field(default=240, ge=60, le=3600, description="of the long runs")


class Shared(Variant):
    """One that several figures share, from a file of its own."""

    kind: Literal["shared"] = "shared"
    name: str = Field(description="paper/name, of a file beside the experiments that figures share")


Evaluation = Accuracy | Speedups | Monitoring | ShortRuns
AnyEvaluation = Annotated[Evaluation, Field(discriminator="kind")]
GivenEvaluation = Annotated[Evaluation | Shared, Field(discriminator="kind")]


@dataclass(frozen=True)
class Scored:
    """A row of an evaluation's table. at: by column. scores: by name, None where there is none. low, high: bounds at 95 %, of some."""

    at: dict[str, str | float]
    scores: dict[str, float | None]
    low: dict[str, float] = field(default_factory=dict)
    high: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """What an evaluation found. runs: of the engine that it rests on."""

    rows: tuple[Scored, ...]
    runs: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Scores:
        return cls(tuple(Scored(**row) for row in value["rows"]), value["runs"])


Evaluator = Callable[[Evaluation], Scores]


@dataclass(frozen=True)
class Preset:
    """Sizes at a scale. batch: the source's 128 suit its many traces; with the few of dev, training would have too few steps. tested:
    traces of a test set. tuned: traces of further training. queries: of each type. points: of a grid. run_twice: experiments for the
    comparison with long runs."""

    traces: int
    hidden: int
    members: int
    epochs: int
    batch: int
    tested: int
    tuned: int
    tuned_epochs: int
    queries: int
    points: int
    run_twice: int


PRESETS: Mapping[str, Preset] = {
    "smoke": Preset(
        traces=400,
        hidden=32,
        members=1,
        epochs=15,
        batch=128,
        tested=20,
        tuned=60,
        tuned_epochs=15,
        queries=2,
        points=2,
        run_twice=6,
    ),
    "dev": Preset(
        traces=4000,
        hidden=32,
        members=3,
        epochs=80,
        batch=32,
        tested=100,
        tuned=900,
        tuned_epochs=80,
        queries=20,
        points=25,
        run_twice=200,
    ),
    "paper": Preset(
        traces=43_281,
        hidden=128,
        members=3,
        epochs=200,
        batch=128,
        tested=100,
        tuned=3000,
        tuned_epochs=400,
        queries=50,
        points=25,
        run_twice=200,
    ),
}
"""By scale (specification 5.4). smoke shows that the parts work together, and nothing else."""


def with_preset(evaluation: Evaluation, scale: str) -> Evaluation:
    """The evaluation with every size."""
    preset = PRESETS[scale]
    if isinstance(evaluation, ShortRuns):
        return evaluation.model_copy(update={"experiments": evaluation.experiments or preset.run_twice})
    sizes = {"hidden": preset.hidden, "members": preset.members, "epochs": preset.epochs, "batch": preset.batch}
    changes: dict[str, Any] = {"traces": evaluation.traces or preset.traces, "models": _filled(evaluation.models, sizes)}
    if isinstance(evaluation, Speedups):
        return evaluation.model_copy(update=changes | {"queries": evaluation.queries or preset.queries})
    if isinstance(evaluation, Monitoring):
        return evaluation.model_copy(update=changes | {"points": evaluation.points or preset.points})
    changes["cases"] = {name: _filled_case(case, preset) for name, case in evaluation.cases.items()}
    return evaluation.model_copy(update=changes)


def _filled_case(case: Case, preset: Preset) -> Case:
    changes: dict[str, Any] = {}
    if case.tested_on is not None:
        changes["tested_on"] = _filled(case.tested_on, {"traces": preset.tested})
    if case.tuned_on is not None:
        changes["tuned_on"] = _filled(case.tuned_on, {"traces": preset.tuned, "epochs": preset.tuned_epochs})
    return case.model_copy(update=changes)


Sized = TypeVar("Sized", bound=Model)


def _filled(model: Sized, sizes: Mapping[str, int]) -> Sized:
    return model.model_copy(update={name: size for name, size in sizes.items() if getattr(model, name) is None})
