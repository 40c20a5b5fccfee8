"""Parameters of the balancing `greedy`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Balancing


class GreedyBalancing(Balancing):
    """Assigns all worksets anew, the largest first, each to the worker with the least load so far. It is near the best plan, and moves
    most worksets."""

    title: ClassVar[str] = "Greedy"
    source: ClassVar[str] = "Siachamis 2024, artefact (2-approximation)"
    position: ClassVar[int] = 2
    kind: Literal["greedy"] = "greedy"
