"""Parameters of the occurrence `random`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, quantity
from ...base.words import number_in_words
from .base import Occurrence


class AtRandom(Occurrence):
    """Repeatedly, with exponentially distributed gaps between the end of one fault and the start of the next, from the workload's seed."""

    title: ClassVar[str] = "At random"
    position: ClassVar[int] = 1
    kind: Literal["random"] = "random"
    mean_s: Number = quantity(
        unit="s", ge=0.001, le=1e9, title="Mean span", description="Mean time from the end of one fault to the start of the next."
    )

    @property
    def in_words(self) -> str:
        return f"at random, every {number_in_words(self.mean_s, 's')} on average"
