"""Parameters of the scheduling policy `highest_rate`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Scheduling


class HighestRate(Scheduling):
    """Paths that give the most output per CPU time run first. Rates within 5 % count as equal; then the query with the oldest item comes
    first."""

    title: ClassVar[str] = "Highest rate"
    source: ClassVar[str] = "Sharaf 2008; Farhat 2020, 3.5"
    position: ClassVar[int] = 4
    kind: Literal["highest_rate"] = "highest_rate"
