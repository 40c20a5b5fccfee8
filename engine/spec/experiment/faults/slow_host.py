"""Parameters of the fault `slow_host`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number, scaled
from .host_fault import PassingFault


class SlowHost(PassingFault):
    """The cores of the host run at another speed; services that have begun keep theirs."""

    title: ClassVar[str] = "Slow host"
    icon: ClassVar[str] = "gauge"
    position: ClassVar[int] = 3
    kind: Literal["slow_host"] = "slow_host"
    factor: Number = Field(
        default=0.5, ge=0.001, le=1000, title="Factor", description="Of the host's speed meanwhile; kept in thousandths."
    )

    @property
    def factor_milli(self) -> int:
        return scaled(self.factor, 1000)
