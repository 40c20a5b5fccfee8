"""Base of balancings: when they act."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ...base.units import Number, milliseconds_ns, quantity
from ...base.variant import Variant


class Balancing(Variant):
    """Worksets move from the start of a window on: records of earlier windows still go to the worker before, so no state moves and no pair
    is lost, however late the records are. The load of a workset is that in the window that ends."""

    trigger: Literal["always", "load"] = Field(
        default="always", title="Trigger", description="always: before each window; load: only when the imbalance exceeds the threshold."
    )
    threshold: Number = quantity(
        0.2, unit="share", ge=0, le=1000, title="Threshold", description="Imbalance over the sum of all loads from which it acts."
    )
    load: Literal["comparisons", "cpu_time"] = Field(
        default="comparisons",
        title="Load",
        description="comparisons: their number, as in the source; cpu_time: microseconds of records, comparisons and pairs, by the prices "
        "of the join.",
        exclude_if=lambda load: load == "comparisons",
    )
    notice_ms: Number = quantity(
        100.0, unit="ms", gt=0, le=1e9, title="Notice", description="How long before a window starts its loads are read and a plan is made."
    )

    @property
    def notice_ns(self) -> int:
        return max(milliseconds_ns(self.notice_ms), 1)
