"""Joins records whose vectors are close to each other by comparing all with all."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.operators.similarity_join import SimilarityPairing


class BruteForceJoin(SimilarityPairing):
    """Joins two streams by comparing every record with all of the other stream in its windows: the quadratic reference for similarity
    joins. On one instance.

    State: the records of both sides by window: their own bytes, and 16 per window.
    Cost: record_ps per window that the record falls into, read_ps per comparison, output_ps per pair.
    """

    kind, title, group, icon = "brute_force_join", "Brute-force join", "Similarity", "rings"
    position = 26
    source = "Siachamis 2024, 2.2"
    keyless = True

    class Params(SimilarityPairing.Params):
        left_key: ClassVar[None] = None  # type: ignore[misc, assignment]  # all records meet, so there is no such field
        right_key: ClassVar[None] = None  # type: ignore[misc, assignment]

    @classmethod
    def parallelism_max(cls, params: Any) -> int | None:
        return 1
