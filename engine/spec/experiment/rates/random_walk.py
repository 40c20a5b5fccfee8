"""Parameters of the rate `random_walk`."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from ...base.problems import Refusal
from ...base.units import Number
from .base import per_second
from .wander import Wander


class RandomWalkRate(Wander):
    """A rate that changes by a random amount between -change and change at each step, within two bounds."""

    title: ClassVar[str] = "Random walk"
    icon: ClassVar[str] = "activity"
    position: ClassVar[int] = 7
    kind: Literal["random_walk"] = "random_walk"
    start_per_s: Number = per_second(5000.0, title="Start", description="Rate of the first step.")
    change_per_s: Number = per_second(2000.0, title="Change", description="Largest change from one step to the next.")
    min_per_s: Number = per_second(0.0, title="Minimum", description="Lower bound of the rate.")
    max_per_s: Number = per_second(10_000.0, title="Maximum", description="Upper bound of the rate.")

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.max_per_s < self.min_per_s:
            message = f"max_per_s is {self.max_per_s:g}, below min_per_s ({self.min_per_s:g}); it must be at least min_per_s"
            raise Refusal(message, at=("max_per_s",), code="not_ascending", value=self.max_per_s)
        if not self.min_per_s <= self.start_per_s <= self.max_per_s:
            message = (
                f"start_per_s is {self.start_per_s:g}; it must be at least min_per_s ({self.min_per_s:g}) "
                f"and at most max_per_s ({self.max_per_s:g})"
            )
            raise Refusal(message, at=("start_per_s",), code="out_of_range", value=self.start_per_s)
        return self
