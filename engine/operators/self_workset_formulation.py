"""Forms worksets of one stream, whose records are joined with each other."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.operators.one_stream import OfOneStream
from engine.operators.similarity import coordinates_of
from engine.operators.workset_formulation import WorksetFormulation


class SelfWorksetFormulation(OfOneStream, WorksetFormulation):
    """Forms the worksets of each space for a self-join: as workset formulation does, with records of one stream. A workset self-join
    stands behind it.

    State: the centroids, 8 bytes for each coordinate and 24 for each; copies from other spaces until their windows end: their own bytes; 16
    for each space and window with such copies, and for each space with worksets.
    Cost: record_ps per record, read_ps per distance to a centroid or to a stored copy, output_ps per record and copy.
    Source: Siachamis 2024, 2.4 (S3J, workset formulation).
    """

    kind, title, group, icon = "self_workset_formulation", "Workset formulation, one stream", "Similarity", "rings"
    position = 23
    source = "Siachamis 2024, 2.4"
    priced_as = ("workset_formulation", "join")

    class Params(WorksetFormulation.Params):
        coordinates: tuple[str, ...] = coordinates_of("in", "")
        left_coordinates: ClassVar[property] = property(lambda self: self.coordinates)  # type: ignore[misc]
        right_coordinates: ClassVar[property] = property(lambda self: self.coordinates)  # type: ignore[misc]

    @classmethod
    def output_ports(cls, params: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(super().output_ports(params)))
