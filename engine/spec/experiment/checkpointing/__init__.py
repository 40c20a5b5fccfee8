"""Checkpointing protocols, one file each: how a run recovers from the loss of hosts. `engine.checkpointing` implements them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Checkpointing
from .checkpoints import Checkpoints

BUILD = "it returns the coordinator, the worker and the features of the event loop (`engine.checkpointing.setup.ProtocolSetup`)"
CHECKPOINTINGS = Family("checkpointings", __name__, Checkpoints, {"build": BUILD})

if TYPE_CHECKING:
    AnyCheckpointing = Checkpointing
else:
    AnyCheckpointing = CHECKPOINTINGS.union
