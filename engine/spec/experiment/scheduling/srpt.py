"""Parameters of the scheduling policy `srpt`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Scheduling


class ShortestFirst(Scheduling):
    """The query with the least work that waits runs first."""

    title: ClassVar[str] = "Shortest remaining time"
    source: ClassVar[str] = "Farhat 2020, 2"
    position: ClassVar[int] = 5
    kind: Literal["srpt"] = "srpt"
