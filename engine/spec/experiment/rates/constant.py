"""Parameters of the rate `constant`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number
from ...base.words import number_in_words
from .base import Pattern, Step, per_second


class ConstantRate(Pattern):
    """The same rate throughout the run."""

    title: ClassVar[str] = "Constant"
    icon: ClassVar[str] = "minus"
    position: ClassVar[int] = 0
    kind: Literal["constant"] = "constant"
    per_s: Number = per_second(1000.0, title="Rate", description="Records per second of virtual time.")

    @property
    def in_words(self) -> str:
        return number_in_words(self.per_s, "records/s")

    def stretches(self) -> tuple[Step, ...]:
        return (Step(at_s=0, per_s=self.per_s),)
