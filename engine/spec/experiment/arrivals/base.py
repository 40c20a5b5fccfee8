"""What all laws of arrivals have in common."""

from __future__ import annotations

from typing import ClassVar

from ...base.variant import Variant


class ArrivalLaw(Variant):
    """How records follow one another at a rate.

    One of another package derives from this class and has a method `arrivals(load)`, which takes an
    `engine.workloads.arrivals.SourceLoad` and returns an `engine.workloads.arrivals.Arrivals`.
    """

    moves_records: ClassVar[bool] = True  # away from the moments at which they are due
