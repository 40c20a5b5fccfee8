"""Joins the records of each workset of one stream with each other."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from engine.operators.one_stream import OfOneStream
from engine.operators.similarity import coordinates_of
from engine.operators.similarity_join import SimilarityJoin


class SelfSimilarityJoin(OfOneStream, SimilarityJoin):
    """Joins the records of each workset with each other: one output for every two records of the stream within the threshold, in each
    window, such as near-duplicates. The left one is that which came last; no record is paired with itself.

    Inner records of a workset match one another without a comparison, outer ones are compared with all but outer ones, outliers with all.
    Takes what workset formulation of one stream sends (`workset`, `role`, `worker`).

    State: the records by workset and window: their own bytes, and 16 per workset and window.
    Cost: record_ps per window that the record falls into, read_ps per comparison, output_ps per pair.
    Source: Siachamis 2024, 2.4 (S3J, similarity computation).
    """

    kind, title, group, icon = "self_similarity_join", "Workset self-join", "Similarity", "rings"
    position = 24
    source = "Siachamis 2024, 2.4"
    made_by = "a workset formulation of one stream"
    priced_as = ("similarity_join", "join")

    class Params(SimilarityJoin.Params):
        coordinates: tuple[str, ...] = coordinates_of("in", "")
        key: str = Field("workset", description="field with the record's workset")
        left_coordinates: ClassVar[property] = property(lambda self: self.coordinates)  # type: ignore[misc]
        right_coordinates: ClassVar[property] = property(lambda self: self.coordinates)  # type: ignore[misc]
        left_key: ClassVar[property] = property(lambda self: self.key)  # type: ignore[misc]
        right_key: ClassVar[property] = property(lambda self: self.key)  # type: ignore[misc]
        left_window_end: ClassVar[None] = None  # type: ignore[misc]
        right_window_end: ClassVar[None] = None  # type: ignore[misc]
