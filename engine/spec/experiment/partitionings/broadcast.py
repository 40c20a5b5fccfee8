"""Parameters of the partitioning `broadcast`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Partitioning


class Broadcast(Partitioning):
    """Every record to every receiver."""

    title: ClassVar[str] = "Broadcast"
    icon: ClassVar[str] = "radio"
    position: ClassVar[int] = 5
    kind: Literal["broadcast"] = "broadcast"
