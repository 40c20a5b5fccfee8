"""Parameters of the fault `slow_host`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number, scaled
from ...base.words import model_in_words, number_in_words
from .host_fault import PassingFault


class SlowHost(PassingFault):
    """The host's cores run at a different speed. Services in progress keep their speed."""

    title: ClassVar[str] = "Slow host"
    icon: ClassVar[str] = "gauge"
    position: ClassVar[int] = 3
    kind: Literal["slow_host"] = "slow_host"
    factor: Number = Field(
        default=0.5, ge=0.001, le=1000, title="Factor", description="Multiplier of the host's speed; kept in thousandths."
    )

    @property
    def in_words(self) -> str:
        return f"{self.host} runs at {number_in_words(self.factor)} x its speed for {self.span_in_words} {model_in_words(self.when)}"

    @property
    def factor_milli(self) -> int:
        return scaled(self.factor, 1000)
