"""No checkpoints."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Checkpointing


class NoCheckpoints(Checkpointing):
    """No checkpoints. A lost host loses everything in its memory, and its sources continue after the last record they read."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    rescalable: ClassVar[bool] = True
    loss_text: ClassVar[str] = (
        "The run has no checkpointing protocol, so everything in the host's memory is lost: its instances restart empty, and records in "
        "its queues, or sent to it meanwhile, are not delivered. To see a recovery, choose a protocol in the experiment (Policies, "
        "Checkpointing)."
    )
    source: ClassVar[str] = "Siachamis 2024, 3.5 (NOC)"
    kind: Literal["none"] = "none"
