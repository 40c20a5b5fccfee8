"""Parameters of the scheduling policy `round_robin`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Scheduling


class RoundRobin(Scheduling):
    """Queries with waiting records take turns of one cycle. Inside a query, operators downstream run first."""

    title: ClassVar[str] = "Round robin"
    source: ClassVar[str] = "Carney 2003; Farhat 2020, 3.5"
    position: ClassVar[int] = 3
    kind: Literal["round_robin"] = "round_robin"
