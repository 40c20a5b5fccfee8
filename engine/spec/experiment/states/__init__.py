"""Where operators keep their state, one file each (docs/incremental-checkpointing.md). `engine.state` implements them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .active_standby import ActiveStandby
from .base import Changelog
from .memory import InMemory
from .replayed import ReplayedState

STATES = Family("states", __name__, Changelog, {})

if TYPE_CHECKING:
    AnyState = InMemory | Changelog | ReplayedState | ActiveStandby
else:
    AnyState = STATES.union
