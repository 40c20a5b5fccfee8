"""Parameters of the rescaling `in_place`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.origins import ASSUMED
from ...base.units import Number, quantity, seconds_ns
from .base import Rescaling


class InPlace(Rescaling):
    """Only the rescaled operators and their senders stop. State moves from the old owners of its key groups to the new ones."""

    title: ClassVar[str] = "In place"
    position: ClassVar[int] = 1
    takes_parts: ClassVar[bool] = True
    kind: Literal["in_place"] = "in_place"
    switch_s: Number = quantity(
        1, unit="s", ge=0, le=1e6, title="Switch", description="Time from when all state is stored until hosts fetch it.", charge=ASSUMED
    )

    @property
    def outage_ns(self) -> int:
        return seconds_ns(self.switch_s)  # pods start while everything runs
