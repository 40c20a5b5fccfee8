"""Base of scheduling policies: the cycle, and what its work costs."""

from __future__ import annotations

from typing import ClassVar

from ...base.origins import ASSUMED
from ...base.units import Number, milliseconds_ns, quantity
from ...base.variant import Variant


class Scheduling(Variant):
    """Base of policies that rank the queries of each host with a pool of cores anew in every cycle."""

    needs_windows: ClassVar[bool] = False  # it acts on the deadlines of windows, which watermarks close
    whole_queries: ClassVar[bool] = False  # it needs all operators of a query on one host
    cycle_ms: Number = quantity(120, unit="ms", ge=1, le=1e8, title="Cycle", description="Time between two selections.")
    collect_us: Number = quantity(
        10,
        unit="us",
        ge=0,
        le=1e6,
        title="Collection",
        description="CPU time per operator and cycle for its statistics.",
        advanced=True,
        charge=ASSUMED,
    )
    switch_us: Number = quantity(
        40,
        unit="us",
        ge=0,
        le=1e6,
        title="Switch",
        description="CPU time per operator that a cycle starts or pauses.",
        advanced=True,
        charge=ASSUMED,
    )

    @property
    def cycle_ns(self) -> int:
        return milliseconds_ns(self.cycle_ms)

    @property
    def epochs_kept(self) -> int:
        """Epochs of each source instance that it reads."""
        return 1

    @property
    def forwards(self) -> bool:
        """Whether the schedulers of several hosts tell one another of sources and costs."""
        return False

    @property
    def bin_cost_us(self) -> float:
        """CPU time per bin of expected slack."""
        return 0.0
