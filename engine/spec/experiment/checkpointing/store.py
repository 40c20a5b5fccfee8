"""The store that keeps checkpoints."""

from __future__ import annotations

from ...base.operator import Model
from ...base.origins import ASSUMED
from ...base.units import Integer, Number, quantity


class Store(Model):
    """The durable store of checkpoints: one disk, reached over the network, unaffected by faults."""

    write_mb_per_s: Number = quantity(
        1000, unit="MB/s", ge=0.1, le=1e6, title="Write throughput", description="Of all hosts together.", charge=ASSUMED
    )
    read_mb_per_s: Number = quantity(
        1000, unit="MB/s", ge=0.1, le=1e6, title="Read throughput", description="Of all hosts together.", charge=ASSUMED
    )
    request_ms: Number = quantity(
        5,
        unit="ms",
        ge=0,
        le=1e6,
        title="Per request",
        description="Fixed time per request, in addition to the disk's work.",
        charge=ASSUMED,
    )
    egress_mbit_per_s: Integer = quantity(
        10_000, unit="Mbit/s", ge=1, le=10**9, title="Egress", description="Bandwidth of the store's own link.", charge=ASSUMED
    )
    latency_ms: Number = quantity(
        0.5, unit="ms", ge=0.000001, le=1e6, title="Latency", description="Latency of the store's own link.", charge=ASSUMED
    )
    capacity_mb: Number | None = quantity(
        None, unit="MB", gt=0, le=1e12, title="Capacity", description="Disk capacity. Default: unlimited."
    )
