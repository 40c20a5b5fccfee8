"""Metrics available to autoscaling policies: scraped gauges, and the job's graph (docs/autoscaling.md, section 5).

Readings are integers, and derived values are `Fraction`s, so that ceilings are exact.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

SECOND_NS = 1_000_000_000

NAMES = (
    "busy_ns",  # per second, since the last scrape, like idle and blocked; stolen time counts as idle
    "idle_ns",
    "blocked_ns",
    "blocked",  # 1: an output buffer is full at the scrape
    "records_in",  # counters, from 0 at each start of the instance
    "records_out",
    "out_micro_per_s",  # millionths of records, over the last minute
    "fill_ppm",  # of its input buffers
    "cpu_ppm",
    "pending",  # unread records in a source's topic; 0 for others
)
"""Metrics that an instance reports at each scrape. Times and rates are fine-grained, since policies divide by them: an instance that is
busy for 30 us per second is not idle."""


class Series(NamedTuple):
    """The reports of one instance since it started at since_ns."""

    operator: str
    instance: int
    since_ns: int


class Graph(NamedTuple):
    """The shape of the job. operators: vertices by the id of their first operator, in topological order. edges: in the query's order.
    parts: key groups or partitions that the instances of a vertex share, or None."""

    operators: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    sources: tuple[str, ...]
    parts: Mapping[str, int | None] = {}


class Metrics(Protocol):
    """The metrics for a policy. Windows are closed intervals that end with the last scrape. None means that there are too few readings."""

    @property
    def now_ns(self) -> int: ...

    def graph(self) -> Graph: ...

    def parallelism(self) -> dict[str, int]:
        """Return the current parallelism by vertex."""
        ...

    def instances(self, operator: str) -> Sequence[Series]:
        """Return the running instances that have been scraped."""
        ...

    def last(self, series: Series, name: str) -> int:
        """Return the reading of the last scrape."""
        ...

    def mean(self, series: Series, name: str, window_ns: int) -> Fraction: ...

    def most(self, series: Series, name: str, window_ns: int) -> int: ...

    def rate(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        """Return the growth per second of a counter; a decrease is treated as a reset to 0."""
        ...

    def growth(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        """Return the growth per second, negative if it shrinks."""
        ...

    def slope(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        """Return the growth per second by least squares."""
        ...

    def topic_rate(self, source: str, window_ns: int) -> Fraction | None:
        """Return the records per second appended to a source's topic."""
        ...

    def pending(self, source: str) -> int:
        """Return the unread records of the source's instances at the last scrape."""
        ...


# Arithmetic


def counter_rate(samples: Sequence[int], span_ns: int) -> Fraction:
    """Return the growth per second of a counter over a span; a decrease means that the counter was reset to 0."""
    grown = sum(after - before if after >= before else after for before, after in pairwise(samples))
    return Fraction(grown * SECOND_NS, span_ns)


def signed_rate(samples: Sequence[int], span_ns: int) -> Fraction:
    """Return the growth per second over a span, negative if it shrinks."""
    return Fraction((samples[-1] - samples[0]) * SECOND_NS, span_ns)


def slope(times_ns: Sequence[int], values: Sequence[int]) -> Fraction:
    """Return the slope per second of the least-squares line. Needs at least two different times."""
    n, times, total = len(times_ns), sum(times_ns), sum(values)
    above = n * sum(t * v for t, v in zip(times_ns, values, strict=True)) - times * total
    return Fraction(above * SECOND_NS, n * sum(t * t for t in times_ns) - times * times)


# Readings


class _Line:
    """Rows of readings at ascending times; only the last `keep_ns` are kept."""

    def __init__(self, times_ns: list[int], rows: list[list[int]]):
        self.times_ns, self.rows = times_ns, rows

    def add(self, now_ns: int, row: Sequence[int], keep_ns: int) -> None:
        self.times_ns.append(now_ns)
        self.rows.append(list(row))
        old = bisect_left(self.times_ns, now_ns - keep_ns)
        del self.times_ns[:old], self.rows[:old]

    def window(self, column: int, window_ns: int) -> tuple[list[int], list[int]]:
        """Return times and readings of the last window, a closed interval."""
        first = bisect_left(self.times_ns, self.times_ns[-1] - window_ns)
        return self.times_ns[first:], [row[column] for row in self.rows[first:]]


class Recording:
    """`Metrics` over readings recorded by `scrape`, between starts and ends of instances.

    keep_ns: the longest window that is used. The reader sets now_ns; the scraper sets running (parallelism by vertex).
    """

    def __init__(self, graph: Graph, parallelism: Mapping[str, int], keep_ns: int):
        self._graph, self._keep_ns = graph, keep_ns
        self.running = dict(parallelism)
        self.now_ns = 0
        self._lines: dict[str, dict[int, tuple[int, _Line]]] = {operator: {} for operator in graph.operators}
        self._topics = {source: _Line([], []) for source in graph.sources}

    # Writing

    def start(self, operator: str, index: int, now_ns: int) -> None:
        """Start a new series for an instance that starts."""
        self._lines[operator][index] = now_ns, _Line([], [])

    def end(self, operator: str, index: int) -> None:
        """Discard the series of an instance that stops."""
        self._lines[operator].pop(index, None)

    def scrape(self, now_ns: int, rows: Mapping[tuple[str, int], Sequence[int]], topics: Mapping[str, int]) -> None:
        """Record readings by operator and index (a row has an integer for each of NAMES), and the records appended to each topic so far."""
        self.now_ns = now_ns
        for (operator, index), row in rows.items():
            self._lines[operator][index][1].add(now_ns, row, self._keep_ns)
        for source, count in topics.items():
            self._topics[source].add(now_ns, [count], self._keep_ns)

    # Reading

    def graph(self) -> Graph:
        return self._graph

    def parallelism(self) -> dict[str, int]:
        return dict(self.running)

    def instances(self, operator: str) -> list[Series]:
        lines = self._lines[operator]
        return [Series(operator, index, lines[index][0]) for index in sorted(lines) if lines[index][1].times_ns]

    def last(self, series: Series, name: str) -> int:
        return self._line(series).rows[-1][NAMES.index(name)]

    def mean(self, series: Series, name: str, window_ns: int) -> Fraction:
        _, values = self._window(series, name, window_ns)
        return Fraction(sum(values), len(values))

    def most(self, series: Series, name: str, window_ns: int) -> int:
        return max(self._window(series, name, window_ns)[1])

    def rate(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        times_ns, values = self._window(series, name, window_ns)
        return counter_rate(values, times_ns[-1] - times_ns[0]) if len(values) > 1 else None

    def growth(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        times_ns, values = self._window(series, name, window_ns)
        return signed_rate(values, times_ns[-1] - times_ns[0]) if len(values) > 1 else None

    def slope(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        times_ns, values = self._window(series, name, window_ns)
        return slope(times_ns, values) if len(values) > 1 else None

    def topic_rate(self, source: str, window_ns: int) -> Fraction | None:
        if not self._topics[source].times_ns:
            return None
        times_ns, counts = self._topics[source].window(0, window_ns)
        return counter_rate(counts, times_ns[-1] - times_ns[0]) if len(counts) > 1 else None

    def pending(self, source: str) -> int:
        return sum(self.last(series, "pending") for series in self.instances(source))

    def _line(self, series: Series) -> _Line:
        since_ns, line = self._lines[series.operator][series.instance]
        if since_ns != series.since_ns:
            raise ValueError(f"instance {series.instance} of {series.operator} restarted at {since_ns} ns; use its new series")
        return line

    def _window(self, series: Series, name: str, window_ns: int) -> tuple[list[int], list[int]]:
        return self._line(series).window(NAMES.index(name), window_ns)

    # State

    def state(self) -> Any:
        """Return the whole state, as JSON values."""
        lines = [
            [operator, index, since_ns, list(line.times_ns), [list(row) for row in line.rows]]
            for operator, found in self._lines.items()
            for index, (since_ns, line) in found.items()
        ]
        topics = {source: [list(line.times_ns), [list(row) for row in line.rows]] for source, line in self._topics.items()}
        return {"now_ns": self.now_ns, "running": dict(self.running), "lines": lines, "topics": topics}

    def restore(self, state: Any) -> None:
        self.now_ns, self.running = state["now_ns"], dict(state["running"])
        self._lines = {operator: {} for operator in self._graph.operators}
        for operator, index, since_ns, times_ns, rows in state["lines"]:
            self._lines[operator][index] = since_ns, _Line(list(times_ns), [list(row) for row in rows])
        self._topics = {source: _Line(list(times_ns), [list(row) for row in rows]) for source, (times_ns, rows) in state["topics"].items()}
