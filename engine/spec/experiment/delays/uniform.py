"""Parameters of the delay distribution `uniform`."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from ...base.problems import Refusal
from ...base.units import Number
from .base import KLINK, Delay, milliseconds


class UniformDelay(Delay):
    """Uniform delays between two bounds, both included."""

    title: ClassVar[str] = "Uniform"
    source: ClassVar[str] = KLINK
    position: ClassVar[int] = 2
    kind: Literal["uniform"] = "uniform"
    min_ms: Number = milliseconds(0.0, title="Minimum", description="Shortest delay.")
    max_ms: Number = milliseconds(title="Maximum", description="Longest delay.")

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.max_ms < self.min_ms:
            message = f"max_ms is {self.max_ms:g}, below min_ms ({self.min_ms:g}); it must be at least min_ms"
            raise Refusal(message, at=("max_ms",), code="not_ascending", value=self.max_ms)
        return self
