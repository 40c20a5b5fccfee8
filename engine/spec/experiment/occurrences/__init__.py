"""Occurrences, one file each: when a fault of a host happens. `engine.faults.occurrences` generates their times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Occurrence

OCCURRENCES = Family("occurrences", __name__, Occurrence, {"next_ns": "it returns the time at which the fault next begins"})

if TYPE_CHECKING:
    AnyOccurrence = Occurrence
else:
    AnyOccurrence = OCCURRENCES.union
