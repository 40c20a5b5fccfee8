"""Free the memory of what no recovery can ask for any more. To the model it is still there: its bytes count, as do those of logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.kernels import channel_log
from engine.core.world import World
from engine.services import ObjectStore

from . import messages as M
from .coordinator import coordinator_of


def reclaim(actors: Sequence[Any], world: World) -> None:
    """Empty logs of channels and objects of stores, as far as the run's coordinator has settled."""
    coordinator = coordinator_of(actors)
    if coordinator is None or coordinator.settled is None:
        return
    settled, coordinator.settled = coordinator.settled, None
    channel_log.forget_before(world.arrays, settled.records)
    for store in actors:
        if isinstance(store, ObjectStore):
            for key, (size_bytes, content) in store.objects.items():
                number, instance = M.of_key(key)
                if content and number < settled.checkpoints[instance]:
                    store.objects[key] = size_bytes, b""
