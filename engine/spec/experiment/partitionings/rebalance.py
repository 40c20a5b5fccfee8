"""Parameters of the partitioning `rebalance`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Partitioning


class Rebalance(Partitioning):
    """Round robin over all receivers."""

    title: ClassVar[str] = "Rebalance"
    icon: ClassVar[str] = "refresh-cw"
    position: ClassVar[int] = 3
    kind: Literal["rebalance"] = "rebalance"
