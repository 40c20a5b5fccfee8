"""Metrics that say what a test has told them, and jobs that are drawn at random to tell them of."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from engine.autoscaling.metrics import Graph, Series

UNITS = {
    "busy_ns": ("busy_ms", 10**6),
    "idle_ns": ("idle_ms", 10**6),
    "blocked_ns": ("blocked_ms", 10**6),
    "out_micro_per_s": ("records_out_per_s", 10**6),
}
"""Tests tell in ms per second and in records per second."""

Number = int | float | Fraction | None

LINE = Graph(("source", "window", "sink"), (("source", "window"), ("window", "sink")), ("source",), {"source": 70, "window": 128})
"""A source, a keyed window and a sink."""


class Told:
    """`Metrics` of fixed answers.

    readings: by vertex and name, a number for all instances, or one for each; means, greatest and last readings are that number, and so are
    rates of counters. `pending_rate`, `pending_growth` and `pending_slope` are those of `pending`. None: no answer. absent: vertices
    without readings.
    """

    def __init__(
        self,
        graph: Graph,
        parallelism: Mapping[str, int],
        readings: Mapping[str, Mapping[str, Any]],
        topics: Mapping[str, Number] | None = None,
        now_s: float = 1000,
        absent: Sequence[str] = (),
        since_s: float = 0,
    ):
        self._graph, self._parallelism, self._readings, self._topics = graph, dict(parallelism), readings, topics or {}
        self.now_ns, self._absent, self._since_ns = round(now_s * 10**9), absent, round(since_s * 10**9)

    def graph(self) -> Graph:
        return self._graph

    def parallelism(self) -> dict[str, int]:
        return dict(self._parallelism)

    def instances(self, operator: str) -> list[Series]:
        if operator in self._absent:
            return []
        return [Series(operator, k, self._since_ns) for k in range(self._parallelism[operator])]

    def _told(self, series: Series, name: str) -> Any:
        shown, unit = UNITS.get(name, (name, 1))
        told = self._readings.get(series.operator, {}).get(shown, 0)
        told = told[series.instance] if isinstance(told, Sequence) else told
        return None if told is None else Fraction(str(told)) * unit

    def last(self, series: Series, name: str) -> int:
        return int(self._told(series, name))

    def mean(self, series: Series, name: str, window_ns: int) -> Fraction:
        return self._told(series, name)

    def most(self, series: Series, name: str, window_ns: int) -> int:
        return int(self._told(series, name))

    def rate(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        return self._told(series, "pending_rate" if name == "pending" else name)

    def growth(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        return self._told(series, f"{name}_growth")

    def slope(self, series: Series, name: str, window_ns: int) -> Fraction | None:
        return self._told(series, f"{name}_slope")

    def topic_rate(self, source: str, window_ns: int) -> Fraction | None:
        rate = self._topics.get(source)
        return None if rate is None else Fraction(str(rate))

    def pending(self, source: str) -> int:
        return sum(self.last(each, "pending") for each in self.instances(source))


def values(advice: Any, name: str) -> dict[str, Fraction | None]:
    """What a policy's advice says of each vertex under this name."""
    return {vertex: value for named, vertex, value in advice.values if named == name}


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """One to six vertices; each but sources has one to three senders."""
    sources = draw(st.integers(1, 2))
    operators = tuple("abcdef"[: sources + draw(st.integers(0, 4))])
    edges: list[tuple[str, str]] = []
    for k, operator in enumerate(operators[sources:], sources):
        senders = draw(st.sets(st.sampled_from(operators[:k]), min_size=1, max_size=3))
        edges += [(sender, operator) for sender in sorted(senders)]
    parts = {operator: draw(st.sampled_from((None, 70, 128, 12))) for operator in operators}
    return Graph(operators, tuple(draw(st.permutations(edges))), operators[:sources], parts)


@st.composite
def metrics(draw: st.DrawFn) -> Told:
    """A random job, in which zeros and equal readings are frequent. Readings come from a seed: drawn one by one they took longer than what
    they are given to."""
    graph = draw(graphs())
    chance = random.Random(draw(st.integers(0, 2**32 - 1)))

    def mostly(usual: int, low: int, high: int) -> int:
        return usual if chance.random() < 0.5 else chance.randint(low, high)

    def share() -> int:
        return mostly(chance.choice((0, 1000)), 0, 1000)

    def count() -> int:
        return mostly(0, 0, 30_000)

    def signed() -> int:
        return mostly(0, -30_000, 30_000)

    by_name: dict[str, Callable[[], int]] = {
        "busy_ms": share,
        "idle_ms": share,
        "blocked_ms": share,
        "blocked": lambda: chance.choice((0, 0, 0, 1)),
        "records_in": count,
        "records_out_per_s": count,
        "fill_ppm": lambda: share() * 1000,
        "cpu_ppm": lambda: share() * 1000,
        "pending": count,
        "pending_rate": count,
        "pending_growth": signed,
        "pending_slope": signed,
    }
    parallelism = {operator: chance.randint(1, 8) for operator in graph.operators}
    readings = {operator: {name: [value() for _ in range(p)] for name, value in by_name.items()} for operator, p in parallelism.items()}
    return Told(graph, parallelism, readings, {source: count() for source in graph.sources})
