"""No checkpoints."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Checkpointing


class NoCheckpoints(Checkpointing):
    """Nothing is stored. What a lost host had in memory is lost, and its sources go on behind the last record that they read."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    rescalable: ClassVar[bool] = True
    loss_text: ClassVar[str] = (
        "The run has no checkpointing protocol, so what the host holds is gone for good: its instances come back empty, and records in "
        "its queues, or sent to it meanwhile, are not delivered. To see a recovery, choose a protocol in the experiment (Policies, "
        "Checkpointing)."
    )
    source: ClassVar[str] = "Siachamis 2024, 3.5 (NOC)"
    kind: Literal["none"] = "none"
