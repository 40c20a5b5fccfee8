"""What a study that optimises looks for: objectives and bounds on what its runs measure, or on the axes themselves."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number
from ..base.variant import Variant

TRIALS_MAX = 1000
"""Each choice looks at all trials before it, so their cost grows with the square of their number."""

METRIC = "a number of the runs' summaries, latency_ms.p99 say, or the name of an axis"
OverSeeds = Literal["mean", "worst"]


class Sought(Model):
    metric: str = Field(min_length=1, max_length=200, description=METRIC, json_schema_extra={"x-editor": "metric"})


class Objective(Sought):
    """What is to be as small, or as large, as can be."""

    direction: Literal["minimise", "maximise"] = "minimise"
    over_seeds: OverSeeds = Field(default="mean", description="what counts of several seeds")

    @property
    def sign(self) -> int:
        """With this factor, less is better."""
        return 1 if self.direction == "minimise" else -1


class Bound(Sought):
    """What must hold of a point that counts."""

    at_most: Number | None = None
    at_least: Number | None = None
    over_seeds: OverSeeds = Field(default="worst", description="what counts of several seeds")

    @model_validator(mode="after")
    def _has_one_side(self) -> Self:
        if (self.at_most is None) == (self.at_least is None):
            given = "both at_most and at_least" if self.at_most is not None else "neither at_most nor at_least"
            raise Refusal(f"the bound on '{self.metric}' has {given}; give one of them", at=("at_most",), value=self.at_most)
        return self

    @property
    def sign(self) -> int:
        """With this factor, less is better."""
        return -1 if self.at_most is None else 1

    @property
    def limit(self) -> float:
        limit = self.at_least if self.at_most is None else self.at_most
        assert limit is not None
        return limit

    def misses_by(self, value: float) -> float:
        """How far beyond the bound the value is; not above 0 if the bound holds."""
        return self.sign * (value - self.limit)


class Optimise(Variant):
    """Points chosen one after another, each where those before it let the best be expected."""

    title: ClassVar[str] = "Optimisation"
    source: ClassVar[str] = "Bergstra 2011; Optuna, Akiba 2019"
    kind: Literal["optimise"] = "optimise"
    objectives: tuple[Objective, ...] = Field(
        min_length=1, max_length=3, description="several: the points that no other beats in all of them"
    )
    bounds: tuple[Bound, ...] = Field(default=(), max_length=10, description="a point counts only if they hold there")
    trials: Integer = Field(ge=1, le=TRIALS_MAX, description="how many points are tried")
    sampler: Literal["tpe", "random"] = Field(
        default="tpe", description="by what was found (tpe), or by chance alone (random), to compare with"
    )
    at_once: Integer = Field(
        default=4,
        ge=1,
        le=64,
        description="so many points are under way at a time: more keep more workers busy, fewer learn more from each other",
    )
    seed: Integer = Field(default=1, ge=0, lt=2**63, description="another seed chooses others")
