"""Parameters of the rate `constant`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number
from .base import Pattern, Step, per_second


class ConstantRate(Pattern):
    """The same rate throughout the run."""

    title: ClassVar[str] = "Constant"
    icon: ClassVar[str] = "minus"
    position: ClassVar[int] = 0
    kind: Literal["constant"] = "constant"
    per_s: Number = per_second(1000.0, title="Rate", description="Records per second of virtual time.")

    def stretches(self) -> tuple[Step, ...]:
        return (Step(at_s=0, per_s=self.per_s),)
