"""Parameters of the scheduling policy `fcfs`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Scheduling


class FirstComeFirstServed(Scheduling):
    """The query whose oldest item waits longest runs first."""

    title: ClassVar[str] = "First come, first served"
    source: ClassVar[str] = "Farhat 2020, Figure 1.1"
    position: ClassVar[int] = 2
    kind: Literal["fcfs"] = "fcfs"
