"""Parameters of the scheduling policy `fcfs`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Scheduling


class FirstComeFirstServed(Scheduling):
    """The query whose record came first runs first. What has been begun is finished before."""

    title: ClassVar[str] = "First come, first served"
    source: ClassVar[str] = "Farhat 2020, Figure 1.1"
    position: ClassVar[int] = 2
    kind: Literal["fcfs"] = "fcfs"
