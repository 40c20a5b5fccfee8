"""Base of all rescaling mechanisms."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from ...base.origins import ASSUMED
from ...base.units import ADVANCED, Number, quantity
from ...base.variant import Variant
from ..checkpointing.store import Store


class SavepointStore(Store):
    """The store of savepoints. Its default throughput is lower than that of the checkpoint store."""

    write_mb_per_s: Number = quantity(
        200, unit="MB/s", ge=0.1, le=1e6, title="Write throughput", description="Of all hosts together.", charge=ASSUMED
    )
    read_mb_per_s: Number = quantity(
        200, unit="MB/s", ge=0.1, le=1e6, title="Read throughput", description="Of all hosts together.", charge=ASSUMED
    )


class Rescaling(Variant):
    """Base of all rescaling mechanisms."""

    takes_parts: ClassVar[bool] = False  # instances restore parts of each other's checkpoints after a loss
    begins_anew: ClassVar[bool] = False  # every operator restarts from the savepoint, even if its parallelism is unchanged

    pod_start_s: Number = quantity(
        10, unit="s", ge=0, le=1e6, title="Pod start", description="Time to start additional instances.", advanced=True, charge=ASSUMED
    )
    timeout_s: Number = quantity(
        600,
        unit="s",
        ge=0.001,
        le=1e8,
        title="Savepoint timeout",
        description="A savepoint that is not complete by then is abandoned.",
        advanced=True,
    )
    store: SavepointStore = Field(
        default=SavepointStore(),
        title="Store",
        description="Store that keeps the savepoints. With coordinated checkpoints, the checkpoint store is used.",
        json_schema_extra=ADVANCED,
    )

    @property
    def outage_ns(self) -> int:
        """Downtime of the operators, as far as it is known in advance."""
        raise NotImplementedError
