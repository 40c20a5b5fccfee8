"""Parameters of the autoscaler `ds2`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import ADVANCED, Number
from .looped import Looped


class DS2(Looped):
    """Sets the parallelism of all operators at once, from their true rates: the rates if they were never idle."""

    title: ClassVar[str] = "DS2"
    source: ClassVar[str] = "Kalavri 2018; Siachamis 2024, 4.4.2, Eq. 4.3"
    position: ClassVar[int] = 5
    kind: Literal["ds2"] = "ds2"
    over_provisioning: Number = Field(
        default=1.2, ge=1, le=100, title="Over-provisioning", description="Multiplier of the computed parallelism, rounded up again."
    )
    busy_max: Number = Field(
        default=1.0,
        gt=0,
        le=1,
        title="Maximum busy share",
        description="Share of time that a saturated instance reports as busy.",
        json_schema_extra=ADVANCED,
    )

    @property
    def wish_factor(self) -> float:
        return self.over_provisioning
