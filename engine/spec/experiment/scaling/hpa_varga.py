"""Parameters of the autoscaler `hpa_varga`."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from ...base.units import Integer, Number, quantity
from .looped import Looped, PendingRate, growth_field, pending_rate_field, refuse_unknown_slopes, slope_field, stabilise_field, target_field


class HPAVarga(Looped):
    """Keeps the non-idle share of instances near a target, and bottlenecks at the input rate."""

    title: ClassVar[str] = "HPA, Varga"
    source: ClassVar[str] = "Varga 2021; Siachamis 2024, 4.4.4, Eq. 4.5 and 4.6"
    position: ClassVar[int] = 7
    kind: Literal["hpa_varga"] = "hpa_varga"
    target: Number = target_field(0.7, "Target share of non-idle time of an instance.")
    backpressure_theta_per_s: Number = growth_field(10_000)
    pending_rate: PendingRate = pending_rate_field()
    lag_threshold: Integer | None = quantity(
        None,
        unit="records",
        ge=0,
        le=10**12,
        title="Lag threshold",
        description="Number of waiting records below which queue growth is ignored. Default: never ignored.",
    )
    stabilise_s: Number = stabilise_field()
    slope_s: Number = slope_field()

    @property
    def history_s(self) -> float:
        return max(super().history_s, self.slope_s)

    @model_validator(mode="after")
    def _slopes_are_known(self) -> Self:
        refuse_unknown_slopes(self.slope_s, self.metrics.scrape_s)
        return self
