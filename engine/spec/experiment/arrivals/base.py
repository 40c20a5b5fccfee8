"""Base class of all arrival processes."""

from __future__ import annotations

from typing import ClassVar

from ...base.variant import Variant


class ArrivalLaw(Variant):
    """The spacing of records at a given rate.

    An arrival process of another package derives from this class and has a method `arrivals(load)`, which takes an
    `engine.workloads.arrivals.SourceLoad` and returns an `engine.workloads.arrivals.Arrivals`.
    """

    moves_records: ClassVar[bool] = True  # away from the times at which they are due
