"""A changing directed graph: links and sources are added and deleted."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.problems import Refusal
from ...base.records import RecordField, RecordSchema
from ...base.units import Integer, Number
from .base import DatasetInfo, Stream, count, ratio


class GraphStream(Stream):
    """One of the three topics of a changing graph. They are consistent at rates of 12 : 3 : 5 and with equal parameters.

    Of twenty events, twelve add a link and three add a source; four delete a random link and one a random source. Sources are random nodes.
    A link starts at a random live source, at the end of a random live link, or at a random node, and ends at another random node.
    """

    group: ClassVar[str] = "Graph"
    source: ClassVar[str] = "Siachamis 2024, 3.6 (reachability)"

    nodes: Integer = count(1_000_000, least=2, title="Nodes", description="Number of nodes, numbered from 0.")
    at_sources: Number = ratio(0.1, title="At sources", description="Share of the links that start at a live source.")
    at_ends: Number = ratio(0.2, title="At ends", description="Share of the links that start where a live link ends.")

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if self.at_sources + self.at_ends > 1:
            message = f"at_sources and at_ends are {self.at_sources:g} and {self.at_ends:g}; their sum must be at most 1"
            raise Refusal(message, at=("at_ends",), code="out_of_range", value=self.at_ends)
        return self


class GraphLink(GraphStream):
    """Added links, from a start node to an end node."""

    title: ClassVar[str] = "Graph links"
    icon: ClassVar[str] = "fork"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(start="int", end="int", time="timestamp")
    position: ClassVar[int] = 12
    kind: Literal["graph_link"] = "graph_link"


class GraphSource(GraphStream):
    """Added sources, each as an empty path from the source to itself.

    A path lists the nodes on it: from `origin` by node1, node2, .. to `reachable`, the last of them; unused fields are -1. hops is its
    number of links: 0 for a new source. Queries extend paths up to `path_max` links.
    """

    title: ClassVar[str] = "Graph sources"
    icon: ClassVar[str] = "flag"
    position: ClassVar[int] = 13
    kind: Literal["graph_source"] = "graph_source"

    path_max: Integer = Field(default=12, ge=1, le=20, title="Longest path", description="Largest number of links in a path.")

    def own_schema(self, dataset: DatasetInfo | None) -> RecordSchema:
        names = ["origin", "reachable", "hops", *(f"node{n}" for n in range(1, self.path_max + 1))]
        return RecordSchema((*(RecordField(name, "int") for name in names), RecordField("time", "timestamp", 0)))


class GraphDeletion(GraphStream):
    """Deleted links. A link that ends where it starts stands for the deletion of that source."""

    title: ClassVar[str] = "Graph deletions"
    icon: ClassVar[str] = "unlink"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(start="int", end="int", time="timestamp")
    position: ClassVar[int] = 14
    kind: Literal["graph_deletion"] = "graph_deletion"
