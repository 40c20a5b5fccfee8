"""Parameters of the autoscaler `dhalion`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number, quantity
from .looped import Looped, PendingRate, growth_field, pending_rate_field


class Dhalion(Looped):
    """Scales up operators behind backpressure, by as much as their senders were blocked; without a bottleneck it scales down all that have
    nearly nothing waiting.
    """

    title: ClassVar[str] = "Dhalion"
    source: ClassVar[str] = "Floratou 2017; Siachamis 2024, 4.4.1, Eq. 4.1 and 4.2"
    position: ClassVar[int] = 4
    kind: Literal["dhalion"] = "dhalion"
    backpressure_theta_per_s: Number = growth_field(1000)
    pending_rate: PendingRate = pending_rate_field()
    first_only: bool = Field(default=False, title="One at a time", description="Of several bottlenecks only the first one is scaled up.")
    source_empty: Literal["rate", "lag"] = Field(
        default="rate", title="Source without load", description="Its queue grows slowly enough (the artifact), or is short enough."
    )
    empty_lag: Number = quantity(
        10_000,
        unit="records",
        ge=0,
        le=1e12,
        title="Slow or short enough",
        description="Records per second, or records, by the field before.",
    )
    empty_fill: Number = Field(
        default=0.2, ge=0, le=1, title="Empty below", description="Share of its input buffers; with no more an operator is scaled down."
    )
    keep: Number = Field(default=0.8, gt=0, lt=1, title="Keep", description="Scaling down leaves so many of an operator's instances.")
    beta_max: Number = Field(
        default=0.9, gt=0, lt=1, title="Blocked at most", description="Senders count as blocked for no larger share of the time."
    )
