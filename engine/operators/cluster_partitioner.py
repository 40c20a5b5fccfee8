"""Sends each record to many virtual partitions by their centroids, and these to workers by shared keys (ClusterJoin)."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from engine.operators.space_partitioner import SpacePartitioner
from engine.spec.base.units import Integer

KEYS = 128
"""Keys of the source: the largest number of key groups there."""


class ClusterPartitioner(SpacePartitioner):
    """Sends each record to the partition whose centroid is nearest to it, and copies to those where it may have matches, as a space
    partitioner does, but with many partitions. Of `keys` keys, several partitions share one, and keys are spread over the workers.

    Adds the fields `space`, `inner`, `key` and `worker`. Stateless.
    Cost: record_ps per record, read_ps per distance to a centroid, output_ps per record and copy.
    Source: Siachamis 2024, 2.5 (ClusterJoin on streams).
    """

    kind, title, group, icon = "cluster_partitioner", "Cluster partitioner", "Similarity", "fork"
    position = 24
    source = "Siachamis 2024, 2.5"
    added: ClassVar[dict[str, str]] = {"space": "int", "inner": "bool", "key": "int", "worker": "int"}

    class Params(SpacePartitioner.Params):
        spaces: Integer = Field(500, ge=1, le=10_000, description="number of partitions")
        keys: Integer = Field(KEYS, ge=1, le=100_000, description="number of keys that the partitions share")
        workers: Integer = Field(ge=1, le=10_000, description="number of instances of the cluster join")

    @classmethod
    def keys_and_workers(cls, params: Any) -> tuple[int, int]:
        return params.keys, params.workers
