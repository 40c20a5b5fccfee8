"""A directed graph that changes: links and sources that come, and go again."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.problems import Refusal
from ...base.records import RecordField, RecordSchema
from ...base.units import Integer, Number
from .base import DatasetInfo, Stream, count, ratio


class GraphStream(Stream):
    """One of the three topics of a changing graph, which belong together at rates of 12 : 3 : 5 and with equal parameters.

    Of twenty events twelve add a link, three a source; four delete a random link, one a random source. Sources are random nodes. A link
    begins at a random live source, at the end of a random live link, or at a random node, and ends at another random node.
    """

    group: ClassVar[str] = "Graph"
    source: ClassVar[str] = "Siachamis 2024, 3.6 (reachability)"

    nodes: Integer = count(1_000_000, least=2, title="Nodes", description="How many there are, from 0.")
    at_sources: Number = ratio(0.1, title="At sources", description="Share of the links that begin at a live source.")
    at_ends: Number = ratio(0.2, title="At ends", description="Share of the links that begin where a live link ends.")

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if self.at_sources + self.at_ends > 1:
            message = f"at_sources and at_ends are {self.at_sources:g} and {self.at_ends:g}; together they are shares, at most 1"
            raise Refusal(message, at=("at_ends",), code="out_of_range", value=self.at_ends)
        return self


class GraphLink(GraphStream):
    """Links that are added, from a start to an end."""

    title: ClassVar[str] = "Graph links"
    icon: ClassVar[str] = "fork"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(start="int", end="int", time="timestamp")
    position: ClassVar[int] = 12
    kind: Literal["graph_link"] = "graph_link"


class GraphSource(GraphStream):
    """Sources that are added, each as the path of no links that leads from it to itself.

    A path is the nodes that it meets: from `origin` by node1, node2, .. to `reachable`, which is the last of them; behind it they are -1.
    hops is its number of links. A fresh source has none; longer paths are what a query makes of it, up to `path_max`.
    """

    title: ClassVar[str] = "Graph sources"
    icon: ClassVar[str] = "flag"
    position: ClassVar[int] = 13
    kind: Literal["graph_source"] = "graph_source"

    path_max: Integer = Field(default=12, ge=1, le=20, title="Longest path", description="How many links a path can have.")

    def own_schema(self, dataset: DatasetInfo | None) -> RecordSchema:
        names = ["origin", "reachable", "hops", *(f"node{n}" for n in range(1, self.path_max + 1))]
        return RecordSchema((*(RecordField(name, "int") for name in names), RecordField("time", "timestamp", 0)))


class GraphDeletion(GraphStream):
    """Links that are deleted; one that ends where it starts is the deletion of that source."""

    title: ClassVar[str] = "Graph deletions"
    icon: ClassVar[str] = "unlink"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(start="int", end="int", time="timestamp")
    position: ClassVar[int] = 14
    kind: Literal["graph_deletion"] = "graph_deletion"
