"""Free the memory of data that no recovery can need. The model still counts its bytes, as it does those of logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.kernels import channel_log
from engine.core.world import World
from engine.services import ObjectStore

from . import messages as M
from .coordinator import coordinator_of


def reclaim(actors: Sequence[Any], world: World) -> None:
    """Free channel logs and stored objects that the coordinator has settled."""
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
