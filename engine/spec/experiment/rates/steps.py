"""Parameters of the rate `steps`."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.problems import Refusal
from .base import Pattern, Step


class StepsRate(Pattern):
    """A rate that changes abruptly at given times. There are no records before the first step."""

    title: ClassVar[str] = "Steps"
    icon: ClassVar[str] = "bar-chart"
    position: ClassVar[int] = 1
    kind: Literal["steps"] = "steps"
    steps: tuple[Step, ...] = Field(
        min_length=1, max_length=10_000, title="Steps", description="Times in ascending order, each with its rate."
    )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        for position in range(1, len(self.steps)):
            before, here = self.steps[position - 1].at_s, self.steps[position].at_s
            if here <= before:
                message = f"at_s is {here:g}, not after the previous step ({before:g}); steps must be in ascending order"
                raise Refusal(message, at=("steps", position, "at_s"), code="not_ascending", value=here)
        return self

    def jumps(self) -> tuple[Step, ...]:
        return self.steps
