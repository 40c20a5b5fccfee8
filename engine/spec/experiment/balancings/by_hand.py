"""Parameters of the balancing `by_hand`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Balancing


class BalancingByHand(Balancing):
    """Moves worksets only when an order says so. An order that names no workset plans once, as S3J does."""

    title: ClassVar[str] = "By hand"
    position: ClassVar[int] = 4
    kind: Literal["by_hand"] = "by_hand"
    periodic: ClassVar[bool] = False
