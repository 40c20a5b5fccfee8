"""Parameters of the partitioning `forward`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.problems import Refusal
from .base import Partitioning


class Forward(Partitioning):
    """Index k to index k; both operators have the same parallelism."""

    title: ClassVar[str] = "Forward"
    icon: ClassVar[str] = "arrow-right"
    position: ClassVar[int] = 1
    one_to_one: ClassVar[bool] = True
    kind: Literal["forward"] = "forward"

    def check_parallelism(self, senders: int, receivers: int) -> None:
        if senders != receivers:
            message = (
                f"kind is forward, which needs equal parallelism on both sides, but the sender has {senders} instances and the receiver "
                f"has {receivers}; make them equal, or choose hash or rebalance"
            )
            raise Refusal(message, at=("kind",), code="unequal_parallelism", value="forward")
