"""Checkpointing protocols, a file each: how a run survives the loss of hosts. What they do stands in `engine.checkpointing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Checkpointing
from .checkpoints import Checkpoints

BUILD = "it returns the coordinator, the worker and the features of the loop (`engine.checkpointing.setup.ProtocolSetup`)"
CHECKPOINTINGS = Family("checkpointings", __name__, Checkpoints, {"build": BUILD})

if TYPE_CHECKING:
    AnyCheckpointing = Checkpointing
else:
    AnyCheckpointing = CHECKPOINTINGS.union
