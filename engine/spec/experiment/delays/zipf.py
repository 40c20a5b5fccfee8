"""Parameters of the delay distribution `zipf`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Integer, Number
from .base import KLINK, Delay, milliseconds


class ZipfDelay(Delay):
    """A whole number of steps. A delay of k steps has a probability proportional to k^-exponent."""

    title: ClassVar[str] = "Zipf"
    source: ClassVar[str] = KLINK
    position: ClassVar[int] = 6
    kind: Literal["zipf"] = "zipf"
    exponent: Number = Field(default=0.99, ge=0, le=5, title="Exponent", description="0: uniform delays.")
    ranks: Integer = Field(default=1000, ge=1, le=1_000_000, title="Ranks", description="Largest number of steps in a delay.")
    step_ms: Number = milliseconds(1.0, title="Step", description="Length of a step.")
