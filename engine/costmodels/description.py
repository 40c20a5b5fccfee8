"""What a cost model may know of a query and of hosts (Heinrich et al. 2024, Table I). No name, identity or measurement is part of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Dtype = Literal["int", "double", "string"]


@dataclass(frozen=True)
class Window:
    """size and slide: records, or ms, by the policy. The slide of a tumbling window is its size."""

    kind: Literal["tumbling", "sliding"]
    policy: Literal["count", "time"]
    size: int
    slide: int


@dataclass(frozen=True)
class Source:
    """A stream: records per second, and how many values of each type a record has."""

    rate_per_s: int
    ints: int
    doubles: int
    strings: int


@dataclass(frozen=True)
class Filter:
    """literal: what values are compared with. It is no feature."""

    function: str
    dtype: Dtype
    literal: int | float | str


@dataclass(frozen=True)
class Join:
    """Of two inputs, in one window over both, on the first attribute of the key's type."""

    key: Dtype
    window: Window


@dataclass(frozen=True)
class WindowedAggregate:
    function: str
    dtype: Dtype
    group_by: Dtype | None
    window: Window

    @property
    def result(self) -> Dtype:
        return "double" if self.function == "mean" else self.dtype


@dataclass(frozen=True)
class Aggregate:
    """Of the results of one firing of a join."""

    function: str
    dtype: Dtype
    group_by: Dtype | None

    @property
    def result(self) -> Dtype:
        return "double" if self.function == "mean" else self.dtype


@dataclass(frozen=True)
class Sink:
    pass


Operator = Source | Filter | Join | WindowedAggregate | Aggregate | Sink


@dataclass(frozen=True)
class Query:
    """operators: senders before receivers, the sink last. edges: from one to another, by their numbers; a join's left input first."""

    operators: tuple[Operator, ...]
    edges: tuple[tuple[int, int], ...]

    @cached_property
    def senders(self) -> tuple[tuple[int, ...], ...]:
        """By operator."""
        return tuple(tuple(sender for sender, receiver in self.edges if receiver == n) for n in range(len(self.operators)))


@dataclass(frozen=True)
class Host:
    """cpu_percent: 100 is one reference core. mbit_per_s, latency_ms: outgoing."""

    cpu_percent: float
    ram_mb: float
    mbit_per_s: float
    latency_ms: float
