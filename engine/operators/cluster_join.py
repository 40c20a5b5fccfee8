"""Joins records whose vectors are close to each other, partition by partition (ClusterJoin)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from engine.operators.cluster_partitioner import ClusterPartitioner
from engine.operators.similarity_join import ROLES_OF_INNER, SimilarityPairing


class ClusterJoin(SimilarityPairing):
    """Joins the records of each key: an inner record is compared with all others of the key, an outer one with inner ones alone. Takes what
    a cluster partitioner sends.

    By `key`, partitions that share a key are compared with each other, and pairs may be found twice. With `dedupe_key`, records of
    different partitions are compared all the same, but a pair is reported only in the partition where both meet. By `space`, every
    partition is on its own.

    State: the records of both sides by key and window: their own bytes, and 16 per key and window.
    Cost: record_ps per window that the record falls into, read_ps per comparison, output_ps per pair.
    Source: Siachamis 2024, 2.5 (ClusterJoin on streams).
    """

    kind, title, group, icon = "cluster_join", "Cluster join", "Similarity", "rings"
    position = 25
    source = "Siachamis 2024, 2.5"
    roles = ROLES_OF_INNER
    role_field = "inner"
    made_by = "a cluster partitioner"
    added = ClusterPartitioner.added

    class Params(SimilarityPairing.Params):
        left_key: str = Field("key", description="field of the left input by which records meet: key, or space")
        right_key: str = Field("key", description="field of the right input by which records meet: key, or space")
        dedupe_key: bool = Field(False, strict=True, description="report a pair only where both records are of one partition, so only once")

    @classmethod
    def space_field(cls, params: Any) -> str:
        return "space" if params.dedupe_key else ""
