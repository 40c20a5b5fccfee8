"""Occurrences, a file each: when a fault of a host happens. `engine.faults.occurrences` has the times of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Occurrence

OCCURRENCES = Family("occurrences", __name__, Occurrence, {"next_ns": "it returns when the fault begins next"})

if TYPE_CHECKING:
    AnyOccurrence = Occurrence
else:
    AnyOccurrence = OCCURRENCES.union
