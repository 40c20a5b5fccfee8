"""No checkpoints."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Checkpointing


class NoCheckpoints(Checkpointing):
    """Nothing is stored. What a lost host had in memory is lost, and its sources go on behind the last record that they read."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    rescalable: ClassVar[bool] = True
    source: ClassVar[str] = "Siachamis 2024, 3.5 (NOC)"
    kind: Literal["none"] = "none"
