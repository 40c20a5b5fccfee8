"""Parameters of the warm-up `time`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number, quantity, seconds_ns
from .base import FACTOR_MAX, WarmUp, extra_of


class WarmUpByTime(WarmUp):
    """The cost falls linearly to its usual value with the time since the start of the run or the last restart of the host."""

    title: ClassVar[str] = "By time"
    source: ClassVar[str] = "Costream, 8.1 (calibrated, not measured)"
    position: ClassVar[int] = 2
    kind: Literal["time"] = "time"
    factor: Number = Field(
        default=2.0, ge=1, le=FACTOR_MAX, title="Factor", description="Initial cost of services, as a multiple of the usual cost."
    )
    over_s: Number = quantity(5.0, unit="s", ge=0.000000001, le=1000, title="Over", description="Time after which an instance is warm.")

    @property
    def extra(self) -> int:
        return extra_of(self.factor)

    @property
    def span_ns(self) -> int:
        return seconds_ns(self.over_s)
