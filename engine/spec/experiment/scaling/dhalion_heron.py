"""Parameters of the autoscaler `dhalion_heron`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Integer, Number, quantity
from .looped import Looped, free_step_field, quiet_field


class DhalionHeron(Looped):
    """Dhalion as implemented in Heron. It scales up one operator at a time, by the total time its senders' instances were blocked, and
    never scales down.
    """

    title: ClassVar[str] = "Dhalion, Heron"
    source: ClassVar[str] = "Floratou 2017; Apache Heron, health manager"
    position: ClassVar[int] = 9
    kind: Literal["dhalion_heron"] = "dhalion_heron"
    every_s: Number = quantity(
        60,
        unit="s",
        ge=0.001,
        le=1e6,
        title="Iteration",
        description="Time between iterations, and span over which blocked time is summed.",
    )
    cooldown_s: Number = quiet_field(180)
    step_max: Integer | None = free_step_field()
    factor_max: Number = Field(
        default=4,
        gt=0,
        le=1000,
        title="Up by",
        description="Largest number of instances added at a time, as a multiple of the current ones.",
    )
