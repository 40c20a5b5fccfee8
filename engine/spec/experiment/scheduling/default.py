"""Parameters of the scheduling `default`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.origins import ASSUMED
from ...base.units import Number, quantity
from ...base.variant import Variant


class FairThreads(Variant):
    """Every operator is a thread, and the operating system shares the cores of a pool fairly among those that have work, as under Flink. If
    they are more than the cores, switching takes a share of these."""

    title: ClassVar[str] = "Default (fair threads)"
    source: ClassVar[str] = "Farhat 2020, 3.5"
    position: ClassVar[int] = 7
    kind: Literal["default"] = "default"
    tax: Number = quantity(
        0.05, ge=0, lt=1, title="Tax", description="Share of the cores lost to switching between threads.", charge=ASSUMED
    )
