"""A changing directed graph in three topics: links, sources, deletions of both.

Every event has an id e = 0, 1, 2, ..., and e mod 20 decides its kind, so shares are exact, and the event of a topic's n-th record depends
on n alone: streams of different operators are consistent, and at rates of 12 : 3 : 5 they stay in step. Which link or source is deleted,
and where a link starts, depends on what is alive at that event. So each stream replays all events once, as far as needed, with draws that
are the same in all three, and stores the contents of the records.

Source: Siachamis 2024, 3.6 (reachability); the shares are those of the authors' generator, which draws the kind of each event.
"""

from __future__ import annotations

from array import array
from typing import Any, ClassVar

import numpy as np

from engine.spec.experiment.streams.graph import GraphSource, GraphStream

from .. import draws
from ..draws import Integers
from ..generated import Block, Generated

PERIOD = "sllldlslldllsldllxld"  # s adds a source, l a link; d deletes a link, x a source. There is always something to delete.
LINKS, SOURCES, DELETIONS = PERIOD.count("l"), PERIOD.count("s"), PERIOD.count("d") + PERIOD.count("x")
LINKS_BEFORE = np.cumsum([0] + [(kind == "l") - (kind == "d") for kind in PERIOD])  # live links, by position in the period
SOURCES_BEFORE = np.cumsum([0] + [(kind == "s") - (kind == "x") for kind in PERIOD])


class History:
    """The graph's history so far and its live elements; columns by record of each topic."""

    def __init__(self, source: Generated):
        self._source, self._stream = source, source.stream
        self._periods = 0
        self._live_links: list[tuple[int, int]] = []
        self._live_sources: list[int] = []
        self.link_starts, self.link_ends, self.sources, self.deleted_starts, self.deleted_ends = (array("q") for _ in range(5))

    def reach(self, periods: int) -> None:
        """Continue until this many periods are complete."""
        if periods <= self._periods:
            return
        stream: GraphStream = self._stream
        random = self._source.random
        period, place = np.divmod(np.arange(self._periods * len(PERIOD), periods * len(PERIOD)), len(PERIOD))
        events = period * len(PERIOD) + place
        links = np.maximum(period * LINKS_BEFORE[-1] + LINKS_BEFORE[place], 1)
        sources = np.maximum(period * SOURCES_BEFORE[-1] + SOURCES_BEFORE[place], 1)
        drawn = (
            random("/graph node").below(events, stream.nodes),
            random("/graph end").below(events, stream.nodes - 1),
            draws.unit(random("/graph begin"), events),
            random("/graph link").below(events, links),
            random("/graph source").below(events, sources),
        )
        for at, (node, end, begin, link, source) in enumerate(zip(*(column.tolist() for column in drawn), strict=True)):
            self._happens(PERIOD[at % len(PERIOD)], node, end, begin, link, source)
        self._periods = periods

    def _happens(self, kind: str, node: int, end: int, begin: float, link: int, source: int) -> None:
        """Apply one event. node: a random node; end: another one, numbered without the start; begin: start of a link; link, source: live
        ones."""
        if kind == "s":
            self.sources.append(node)
            self._live_sources.append(node)
        elif kind == "l":
            if begin < self._stream.at_sources:
                start = self._live_sources[source]
            elif begin < self._stream.at_sources + self._stream.at_ends and self._live_links:
                start = self._live_links[link][1]
            else:
                start = node
            end += end >= start
            self.link_starts.append(start)
            self.link_ends.append(end)
            self._live_links.append((start, end))
        else:
            start, end = _drop(self._live_links, link) if kind == "d" else (_drop(self._live_sources, source),) * 2
            self.deleted_starts.append(start)
            self.deleted_ends.append(end)


def _drop(live: list[Any], at: int) -> Any:
    """Remove one element; the last one takes its place."""
    live[at], live[-1] = live[-1], live[at]
    return live.pop()


class Topic(Block[GraphStream]):
    """Records of one topic, with a fixed number per period."""

    in_a_period: ClassVar[int]

    @classmethod
    def tables(cls, source: Generated) -> History:
        return History(source)

    def _of(self, column: str) -> Integers:
        """Return a column of the history for these records."""
        history: History = self.source.tables
        history.reach(int(self.numbers.max(initial=-1)) // self.in_a_period + 1)
        values: Integers = np.frombuffer(getattr(history, column), np.int64)[self.numbers]
        return values


class GraphLinks(Topic):
    """Link n belongs to period n div 12."""

    makes = "graph_link"

    in_a_period = LINKS

    @property
    def start(self) -> Integers:
        return self._of("link_starts")

    @property
    def end(self) -> Integers:
        return self._of("link_ends")


class GraphSources(Topic):
    """Source n belongs to period n div 3."""

    makes = "graph_source"

    in_a_period = SOURCES

    stream: GraphSource

    @property
    def origin(self) -> Integers:
        return self._of("sources")

    @property
    def reachable(self) -> Integers:
        return self.origin

    @property
    def hops(self) -> Integers:
        return np.zeros(len(self.numbers), np.int64)

    def __getattr__(self, name: str) -> Integers:
        """The fields node1, node2 and so on: a new source has visited no nodes."""
        if name[:4] != "node" or not name[4:].isdecimal():
            raise AttributeError(name)
        return np.full(len(self.numbers), -1, np.int64)


class GraphDeletions(Topic):
    """Deletion n belongs to period n div 5."""

    makes = "graph_deletion"

    in_a_period = DELETIONS

    @property
    def start(self) -> Integers:
        return self._of("deleted_starts")

    @property
    def end(self) -> Integers:
        return self._of("deleted_ends")
