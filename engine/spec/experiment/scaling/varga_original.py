"""Parameters of the autoscaler `varga_original`."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from ...base.units import Integer, Number, quantity
from .looped import Looped, free_step_field, quiet_field, refuse_unknown_slopes, slope_field, target_field
from .replicas import stabilise_down_field, tolerance_field, up_add_field, up_times_field


class VargaOriginal(Looped):
    """Kubernetes' autoscaler on two streaming metrics of the whole job: non-idle time, and input rate as a multiple of the read rate."""

    title: ClassVar[str] = "Varga, original"
    source: ClassVar[str] = "Varga 2021"
    position: ClassVar[int] = 12
    kind: Literal["varga_original"] = "varga_original"
    cooldown_s: Number = quiet_field(0)
    step_max: Integer | None = free_step_field()
    target: Number = target_field(0.7, "Target share of non-idle time of an instance.")
    tolerance: Number = tolerance_field()
    up_add: Integer = up_add_field()
    up_times: Number = up_times_field()
    stabilise_s: Number = stabilise_down_field()
    slope_s: Number = slope_field()
    lag_threshold: Integer = quantity(
        50_000,
        unit="records",
        ge=0,
        le=10**12,
        title="Lag threshold",
        description="Number of waiting records up to which queue growth is ignored.",
    )

    @property
    def history_s(self) -> float:
        return max(super().history_s, self.slope_s)

    @model_validator(mode="after")
    def _slopes_are_known(self) -> Self:
        refuse_unknown_slopes(self.slope_s, self.metrics.scrape_s)
        return self
