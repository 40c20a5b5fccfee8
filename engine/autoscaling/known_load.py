"""Ground truth that autoscalers cannot know: the future load, and the capacity of instances. Only `fixed` and `oracle` use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

from .limits import Limit, fit, workers

MINUTE_NS = 60 * 10**9
MICRO = 1_000_000


class Curve(Protocol):
    """The rate of one source over time (`engine.workloads.curves`), in millionths of a record per second."""

    def pieces_between(self, from_ns: int, to_ns: int) -> Iterator[tuple[int, int]]: ...

    def area(self, time_ns: int) -> int: ...


class Needed(NamedTuple):
    """The parallelism that a load needs, by vertex. enough: False if workers_max or the bounds are insufficient."""

    parallelism: dict[str, int]
    enough: bool


@dataclass(frozen=True)
class Truth:
    """rates_per_s: maximum total rate of the sources in each minute of the run. mean_per_s: over the run. capacity_per_s: by vertex,
    maximum rate of one instance. per_input: records that a vertex serves per source record. parts: key groups or partitions by vertex; the
    instance with the most is the slowest. bounds, workers_max: limits."""

    rates_per_s: Sequence[Fraction]
    mean_per_s: Fraction
    horizon_ns: int
    capacity_per_s: Mapping[str, Fraction]
    per_input: Mapping[str, Fraction]
    parts: Mapping[str, int | None]
    bounds: Mapping[str, Limit]
    workers_max: int

    def needed(self, rate_per_s: Fraction) -> Needed:
        """Return the minimum parallelism that sustains this rate of the sources."""
        wanted, enough = {}, True
        for vertex, capacity in self.capacity_per_s.items():
            bound = self.bounds[vertex]
            instances = rate_per_s * self.per_input[vertex] / capacity
            found = next((p for p in range(bound.least, bound.most + 1) if self._equivalents(vertex, p) >= instances), None)
            wanted[vertex] = bound.most if found is None else found
            enough = enough and found is not None
        if workers(wanted, self.bounds) > self.workers_max:
            return Needed(fit(wanted, self.workers_max, self.bounds), False)
        return Needed(wanted, enough)

    def workers(self, parallelism: Mapping[str, int]) -> int:
        return workers(parallelism, self.bounds)

    def _equivalents(self, vertex: str, p: int) -> Fraction:
        """Return the number of instances with equal shares that serve as much as p instances with their actual shares."""
        parts = self.parts.get(vertex)
        return Fraction(p) if parts is None else Fraction(parts, -(-parts // p))


def by_minute(curves: Sequence[Curve], horizon_ns: int) -> list[Fraction]:
    """Return the maximum total rate of the sources in each minute that starts before the horizon, in records per second."""
    greatest = []
    for start_ns in range(0, horizon_ns, MINUTE_NS):
        end_ns = min(start_ns + MINUTE_NS, horizon_ns)
        changes = sorted((at_ns, k, rate) for k, curve in enumerate(curves) for at_ns, rate in curve.pieces_between(start_ns, end_ns))
        rates = [0] * len(curves)
        peak, begun = 0, start_ns
        for at_ns, k, rate in changes:
            if at_ns > begun:  # the rates until now
                peak, begun = max(peak, sum(rates)), at_ns
            rates[k] = rate
        greatest.append(Fraction(max(peak, sum(rates)), MICRO))
    return greatest


def mean_rate(curves: Sequence[Curve], horizon_ns: int) -> Fraction:
    """Return the mean total rate of the sources over the run, in records per second."""
    return Fraction(sum(curve.area(horizon_ns) for curve in curves), horizon_ns * MICRO)
