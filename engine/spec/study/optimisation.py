"""Optimisation in studies: objectives and bounds on metrics of the runs, or on the axes themselves."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number
from ..base.variant import Variant

TRIALS_MAX = 1000
"""Limit of trials. Each choice considers all earlier trials, so the cost grows with the square of their number."""

METRIC = "metric from the runs' summaries, such as latency_ms.p99, or the name of an axis"
OverSeeds = Literal["mean", "worst"]


class Sought(Model):
    metric: str = Field(min_length=1, max_length=200, description=METRIC, json_schema_extra={"x-editor": "metric"})


class Objective(Sought):
    """A metric to minimise or maximise."""

    direction: Literal["minimise", "maximise"] = "minimise"
    over_seeds: OverSeeds = Field(default="mean", description="aggregation over seeds")

    @property
    def sign(self) -> int:
        """Factor with which smaller values are better."""
        return 1 if self.direction == "minimise" else -1


class Bound(Sought):
    """A constraint that a valid point must satisfy."""

    at_most: Number | None = None
    at_least: Number | None = None
    over_seeds: OverSeeds = Field(default="worst", description="aggregation over seeds")

    @model_validator(mode="after")
    def _has_one_side(self) -> Self:
        if (self.at_most is None) == (self.at_least is None):
            given = "both at_most and at_least" if self.at_most is not None else "neither at_most nor at_least"
            raise Refusal(f"the bound on '{self.metric}' has {given}; give one of them", at=("at_most",), value=self.at_most)
        return self

    @property
    def sign(self) -> int:
        """Factor with which smaller values are better."""
        return -1 if self.at_most is None else 1

    @property
    def limit(self) -> float:
        limit = self.at_least if self.at_most is None else self.at_most
        assert limit is not None
        return limit

    def misses_by(self, value: float) -> float:
        """Amount by which the value violates the bound; at most 0 if the bound holds."""
        return self.sign * (value - self.limit)


class Optimise(Variant):
    """Chooses points sequentially, each where the results of earlier trials promise the best value."""

    title: ClassVar[str] = "Optimisation"
    source: ClassVar[str] = "Bergstra 2011; Optuna, Akiba 2019"
    kind: Literal["optimise"] = "optimise"
    objectives: tuple[Objective, ...] = Field(
        min_length=1, max_length=3, description="Objectives. With several, the result is the Pareto front."
    )
    bounds: tuple[Bound, ...] = Field(default=(), max_length=10, description="constraints that a valid point must satisfy")
    trials: Integer = Field(ge=1, le=TRIALS_MAX, description="number of points to try")
    sampler: Literal["tpe", "random"] = Field(default="tpe", description="sampler: tpe (learns from earlier trials) or random (baseline)")
    at_once: Integer = Field(
        default=4,
        ge=1,
        le=64,
        description="trials in parallel; more keep more workers busy, fewer let each trial learn more from the others",
    )
    seed: Integer = Field(default=1, ge=0, lt=2**63, description="seed of the sampler")
