"""Arrival processes, one file each: the spacing of records at a given rate. `engine.workloads.arrivals` generates their times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import ArrivalLaw

TIMES = "it returns the times of the records (`engine.workloads.arrivals.Arrivals`)"
ARRIVALS = Family("arrivals", __name__, ArrivalLaw, {"arrivals": TIMES})

if TYPE_CHECKING:
    AnyArrivals = ArrivalLaw
else:
    AnyArrivals = ARRIVALS.union
