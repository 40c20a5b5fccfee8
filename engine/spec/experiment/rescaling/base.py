"""What all ways of rescaling have in common."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from ...base.units import Number, quantity
from ...base.variant import Variant
from ..checkpointing.store import Store


class SavepointStore(Store):
    """The store of savepoints: slower than that of checkpoints, unless a document says otherwise."""

    write_mb_per_s: Number = quantity(200, unit="MB/s", ge=0.1, le=1e6, title="Writes", description="Of all workers together.")
    read_mb_per_s: Number = quantity(200, unit="MB/s", ge=0.1, le=1e6, title="Reads", description="Of all workers together.")


class Rescaling(Variant):
    """What all ways of rescaling have in common."""

    begins_anew: ClassVar[bool] = False  # whether every operator begins anew from the savepoint, its parallelism changed or not

    pod_start_s: Number = quantity(
        10, unit="s", ge=0, le=1e6, title="Start of pods", description="How long new workers take, where there are more than before."
    )
    timeout_s: Number = quantity(
        600, unit="s", ge=0.001, le=1e8, title="Give up after", description="A savepoint that is not complete by then is given up."
    )
    store: SavepointStore = Field(
        default=SavepointStore(),
        title="Store",
        description="Where savepoints are kept; with coordinated checkpoints theirs is used.",
    )

    @property
    def outage_ns(self) -> int:
        """How long operators stand still, as far as that is known beforehand."""
        raise NotImplementedError
