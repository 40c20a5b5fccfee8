"""Parameters of the autoscaler `ds2_original`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Integer, Number, quantity
from .looped import Looped, free_step_field, quiet_field


class DS2Original(Looped):
    """DS2 as its authors published it: rates over an interval, no action for small changes, sources stay as they are."""

    title: ClassVar[str] = "DS2, original"
    source: ClassVar[str] = "Kalavri 2018; DS2's scaling manager"
    position: ClassVar[int] = 10
    kind: Literal["ds2_original"] = "ds2_original"
    every_s: Number = quantity(10, unit="s", ge=0.001, le=1e6, title="Interval", description="Rates are taken over it, too.")
    cooldown_s: Number = quiet_field(0)
    step_max: Integer | None = free_step_field()
    warm_up: Integer = quantity(
        2, unit="intervals", ge=0, le=1_000_000, title="Warm-up", description="Intervals behind a restart of which nothing is made."
    )
    activation: Integer = quantity(
        1,
        unit="decisions",
        ge=1,
        le=1_000_000,
        title="Activation",
        description="So many decisions behind a restart, then one is carried out.",
    )
    factor: Number = Field(
        default=0, ge=0, le=100, title="Factor", description="So much more than it takes, as a share of it, before rounding."
    )
    rate_ratio_max: Number | None = Field(
        default=None,
        ge=1,
        le=1e9,
        title="Rate ratio",
        description="If nothing needs more, and so many times what sources read comes, or more, all are multiplied; not given: never.",
    )
