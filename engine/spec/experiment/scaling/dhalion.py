"""Parameters of the autoscaler `dhalion`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number, quantity
from .looped import Looped, PendingRate, growth_field, pending_rate_field


class Dhalion(Looped):
    """Scales up operators that cause backpressure, in proportion to how long their senders were blocked. Without a bottleneck, it scales
    down all operators with nearly empty input buffers.
    """

    title: ClassVar[str] = "Dhalion"
    source: ClassVar[str] = "Floratou 2017; Siachamis 2024, 4.4.1, Eq. 4.1 and 4.2"
    position: ClassVar[int] = 4
    kind: Literal["dhalion"] = "dhalion"
    backpressure_theta_per_s: Number = growth_field(1000)
    pending_rate: PendingRate = pending_rate_field()
    first_only: bool = Field(default=False, title="One at a time", description="Scale up only the first of several bottlenecks.")
    source_empty: Literal["rate", "lag"] = Field(
        default="rate",
        title="Idle source",
        description="A source counts as idle if its queue grows slowly (rate, as in the artifact) or is short (lag).",
    )
    empty_lag: Number = quantity(
        10_000,
        unit="records",
        ge=0,
        le=1e12,
        title="Idle threshold",
        description="Queue growth in records per second, or queue length in records, up to which a source counts as idle.",
    )
    empty_fill: Number = Field(
        default=0.2, ge=0, le=1, title="Empty below", description="Fill level of its input buffers up to which an operator is scaled down."
    )
    keep: Number = Field(
        default=0.8, gt=0, lt=1, title="Keep", description="Share of an operator's instances that remain after scaling down."
    )
    beta_max: Number = Field(
        default=0.9, gt=0, lt=1, title="Blocked at most", description="Upper limit of the blocked share of time that is used."
    )
