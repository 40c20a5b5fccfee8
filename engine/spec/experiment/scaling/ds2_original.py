"""Parameters of the autoscaler `ds2_original`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Integer, Number, quantity
from .looped import Looped, free_step_field, quiet_field


class DS2Original(Looped):
    """DS2 as published by its authors: rates over an interval, no action for small changes, sources never rescaled."""

    title: ClassVar[str] = "DS2, original"
    source: ClassVar[str] = "Kalavri 2018; DS2's scaling manager"
    position: ClassVar[int] = 10
    kind: Literal["ds2_original"] = "ds2_original"
    every_s: Number = quantity(
        10, unit="s", ge=0.001, le=1e6, title="Interval", description="Time between decisions, and span over which rates are measured."
    )
    cooldown_s: Number = quiet_field(0)
    step_max: Integer | None = free_step_field()
    warm_up: Integer = quantity(
        2, unit="intervals", ge=0, le=1_000_000, title="Warm-up", description="Number of intervals ignored after a restart."
    )
    activation: Integer = quantity(
        1,
        unit="decisions",
        ge=1,
        le=1_000_000,
        title="Activation",
        description="Number of decisions after a restart before one is carried out.",
    )
    factor: Number = Field(
        default=0, ge=0, le=100, title="Factor", description="Extra capacity before rounding, as a share of the capacity needed."
    )
    rate_ratio_max: Number | None = Field(
        default=None,
        ge=1,
        le=1e9,
        title="Rate ratio",
        description="Ratio of input to source reads from which all operators are scaled up by it if none needs more. Default: never.",
    )
