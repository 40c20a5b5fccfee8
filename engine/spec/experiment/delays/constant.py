"""Parameters of the delay distribution `constant`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number
from .base import AION, Delay, milliseconds


class ConstantDelay(Delay):
    """The same delay for all records, so they stay in order."""

    title: ClassVar[str] = "Constant"
    source: ClassVar[str] = AION
    position: ClassVar[int] = 1
    kind: Literal["constant"] = "constant"
    delay_ms: Number = milliseconds(150.0, title="Delay", description="Delay of every record.")
