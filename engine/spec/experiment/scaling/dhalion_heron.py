"""Parameters of the autoscaler `dhalion_heron`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Integer, Number, quantity
from .looped import Looped, free_step_field, quiet_field


class DhalionHeron(Looped):
    """Dhalion as it runs in Heron: one operator at a time is scaled up, by how long its senders were blocked, all instances together;
    nothing is ever scaled down.
    """

    title: ClassVar[str] = "Dhalion, Heron"
    source: ClassVar[str] = "Floratou 2017; Apache Heron, health manager"
    position: ClassVar[int] = 9
    kind: Literal["dhalion_heron"] = "dhalion_heron"
    every_s: Number = quantity(60, unit="s", ge=0.001, le=1e6, title="Iteration", description="Blocked time is summed over it, too.")
    cooldown_s: Number = quiet_field(180)
    step_max: Integer | None = free_step_field()
    factor_max: Number = Field(
        default=4, gt=0, le=1000, title="Up by", description="So many times the instances are added at a time, at most."
    )
