"""What autoscaling policies may know of a run: readings of gauges, and the public shape of the job (docs/autoscaling.md, section 5).

Readings are whole numbers, and what is computed from them is a `Fraction`, so that ceilings are those of the exact value.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

SECOND_NS = 1_000_000_000

NAMES = (
    "busy_ns",  # per second, since the last scrape; as idle and blocked; what is stolen counts as idle
    "idle_ns",
    "blocked_ns",
    "blocked",  # 1: an output buffer is full at the scrape
    "records_in",  # counters, from 0 at each start of the instance
    "records_out",
    "out_micro_per_s",  # millionths of records, over the last minute
    "fill_ppm",  # of its input buffers
    "cpu_ppm",
    "pending",  # records in the topic that a source has not read; 0 for others
)
"""What an instance reports at each scrape. Times and rates are fine, since a policy divides by them: an instance that is busy for 30 us a
second is not idle."""


class Series(NamedTuple):
    """What one instance has reported since it started at since_ns."""

    operator: str
    instance: int
    since_ns: int


class Graph(NamedTuple):
    """The shape of the job. operators: vertices by the id of their first operator, in topological order. edges: in the query's order.
    parts: key groups or partitions that instances of a vertex divide among them; None where there are no such."""

    operators: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    sources: tuple[str, ...]
    parts: Mapping[str, int | None] = {}


class Metrics(Protocol):
    """What a policy is given. Windows are closed and end with the last scrape. No answer (None): there were no readings, or too few."""

    @property
    def now_ns(self) -> int: ...

    def graph(self) -> Graph: ...

    def parallelism(self) -> dict[str, int]:
        """As the job runs, by vertex."""
        ...

    def instances(self, operator: str) -> Sequence[Series]:
        """Those that run and have been scraped."""
        ...

    def last(self, series: Series, name: str) -> int:
        """The reading of the last scrape."""
        ...

    def mean(self, series: Series, name: str, window_ns: int) -> Fraction: ...

    def most(self, series: Series, name: str, window_ns: int) -> int: ...

    def rate(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        """Growth per second of a counter: a lower reading than the one before is taken for a new beginning at 0."""
        ...

    def growth(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        """Growth per second, below 0 where it shrinks."""
        ...

    def slope(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        """Growth per second by least squares."""
        ...

    def topic_rate(self, source: str, window_ns: int) -> Fraction | None:
        """Records per second that are appended to a source's topic."""
        ...

    def pending(self, source: str) -> int:
        """Records that the source's instances have not read, by the last scrape."""
        ...


# Arithmetic


def counter_rate(samples: Sequence[int], span_ns: int) -> Fraction:
    """Growth per second of a counter over a span; where a sample is less than the one before, the counter has begun anew at 0."""
    grown = sum(after - before if after >= before else after for before, after in pairwise(samples))
    return Fraction(grown * SECOND_NS, span_ns)


def signed_rate(samples: Sequence[int], span_ns: int) -> Fraction:
    """Growth per second over a span, below 0 where it shrinks."""
    return Fraction((samples[-1] - samples[0]) * SECOND_NS, span_ns)


def slope(times_ns: Sequence[int], values: Sequence[int]) -> Fraction:
    """Growth per second of the straight line with the least squares. At least two different times."""
    n, times, total = len(times_ns), sum(times_ns), sum(values)
    above = n * sum(t * v for t, v in zip(times_ns, values, strict=True)) - times * total
    return Fraction(above * SECOND_NS, n * sum(t * t for t in times_ns) - times * times)


# Readings


class _Line:
    """Rows of readings at ascending times, the newest `keep_ns` of them."""

    def __init__(self, times_ns: list[int], rows: list[list[int]]):
        self.times_ns, self.rows = times_ns, rows

    def add(self, now_ns: int, row: Sequence[int], keep_ns: int) -> None:
        self.times_ns.append(now_ns)
        self.rows.append(list(row))
        old = bisect_left(self.times_ns, now_ns - keep_ns)
        del self.times_ns[:old], self.rows[:old]

    def window(self, column: int, window_ns: int) -> tuple[list[int], list[int]]:
        """Times and readings of the last window, which is closed at both ends."""
        first = bisect_left(self.times_ns, self.times_ns[-1] - window_ns)
        return self.times_ns[first:], [row[column] for row in self.rows[first:]]


class Recording:
    """`Metrics` over readings that somebody scrapes (`scrape`) between starts and ends of instances.

    keep_ns: the longest window that will be asked for. now_ns is set by whoever asks, running (parallelism by vertex) by whoever scrapes.
    """

    def __init__(self, graph: Graph, parallelism: Mapping[str, int], keep_ns: int):
        self._graph, self._keep_ns = graph, keep_ns
        self.running = dict(parallelism)
        self.now_ns = 0
        self._lines: dict[str, dict[int, tuple[int, _Line]]] = {operator: {} for operator in graph.operators}
        self._topics = {source: _Line([], []) for source in graph.sources}

    # Writing

    def start(self, operator: str, index: int, now_ns: int) -> None:
        """An instance starts: a new series begins."""
        self._lines[operator][index] = now_ns, _Line([], [])

    def end(self, operator: str, index: int) -> None:
        """An instance stops: it reports nothing more, and what it reported is forgotten."""
        self._lines[operator].pop(index, None)

    def scrape(self, now_ns: int, rows: Mapping[tuple[str, int], Sequence[int]], topics: Mapping[str, int]) -> None:
        """Readings by operator and index (a row has a whole number for each of NAMES), and how many records each topic has had."""
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
            raise ValueError(f"instance {series.instance} of {series.operator} has started anew at {since_ns} ns; ask for its new series")
        return line

    def _window(self, series: Series, name: str, window_ns: int) -> tuple[list[int], list[int]]:
        return self._line(series).window(NAMES.index(name), window_ns)

    # State

    def state(self) -> Any:
        """All that it remembers, as JSON values."""
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
