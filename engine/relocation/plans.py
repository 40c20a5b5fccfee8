"""Where operators should be, by their loads and traffic (Aniello et al. 2013, online scheduler; Heinrich et al. 2024, V-B).

It sees what was measured, and of hosts their CPU alone: neither links nor memory, and nothing of the query besides who sends to whom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

Places = dict[str, int]
"""Number of its host, by operator."""


@dataclass(frozen=True)
class Readings:
    """Means over a window. cores: of a reference host that an operator took. per_s: records that went from one operator to another."""

    cores: Mapping[str, float]
    per_s: Mapping[tuple[str, str], float]

    def crossing_per_s(self, places: Mapping[str, int]) -> float:
        """Records that go to another host."""
        return sum(rate for (sender, receiver), rate in self.per_s.items() if places[sender] != places[receiver])

    def loads(self, places: Mapping[str, int], hosts: int) -> list[float]:
        """Cores taken, by host."""
        found = [0.0] * hosts
        for operator, host in places.items():
            found[host] += self.cores[operator]
        return found


def planned(readings: Readings, capacity: Sequence[float]) -> Places:
    """Assign pairs of operators by descending traffic, of equals in the order of the edges, without regard to where they are.

    capacity: of each host, cores that operators may take. Operators that fit nowhere go to the least loaded host.
    """
    return _Assignment(readings, capacity).made()


class _Assignment:
    def __init__(self, readings: Readings, capacity: Sequence[float]):
        self.readings, self.capacity = readings, capacity
        self.places: Places = {}
        self.load = [0.0] * len(capacity)

    def made(self) -> Places:
        for (one, other), _ in sorted(self.readings.per_s.items(), key=lambda pair: -pair[1]):
            if one in self.places or other in self.places:
                self._join(one, other)
            else:
                self._begin(one, other)
        for operator in self.readings.cores:  # operators without traffic
            if operator not in self.places:
                self._put(operator, self._least_loaded()[0])
        return self.places

    def _begin(self, one: str, other: str) -> None:
        """Both on the least loaded host that can take them, else on the two least loaded."""
        cores = self.readings.cores[one] + self.readings.cores[other]
        free = next((host for host in self._least_loaded() if self._fits(host, cores)), None)
        if free is not None:
            self._put(one, free)
            self._put(other, free)
        else:
            self._put(one, self._least_loaded()[0])
            self._put(other, self._least_loaded()[0])

    def _join(self, one: str, other: str) -> None:
        """On one of their hosts or the least loaded, each where least traffic goes between hosts."""
        before = {operator: self._take(operator) for operator in (one, other) if operator in self.places}
        choices = sorted({*before.values(), self._least_loaded()[0]})
        pairs = [dict(zip((one, other), pair, strict=True)) for pair in product(choices, choices)]
        fit = [places for places in pairs if self._fit(places)]
        best = min(fit, key=lambda places: self._rank(places, before), default=before)
        for operator in (one, other):
            self._put(operator, best.get(operator, self._least_loaded()[0]))

    def _rank(self, places: Places, before: Places) -> tuple[float, bool, bool]:
        """Least traffic between hosts first; of equals, where they are assigned already, then on one host."""
        return self._crossing_per_s(places), not before.items() <= places.items(), len(set(places.values())) > 1

    def _crossing_per_s(self, more: Places) -> float:
        places = self.places | more
        return sum(
            rate
            for (sender, receiver), rate in self.readings.per_s.items()
            if sender in places and receiver in places and places[sender] != places[receiver]
        )

    def _fit(self, places: Places) -> bool:
        wanted: dict[int, float] = {}
        for operator, host in places.items():
            wanted[host] = wanted.get(host, 0.0) + self.readings.cores[operator]
        return all(self._fits(host, cores) for host, cores in wanted.items())

    def _fits(self, host: int, cores: float) -> bool:
        return self.load[host] + cores <= self.capacity[host]

    def _least_loaded(self) -> list[int]:
        """Hosts by the share of their capacity that is taken; of several the largest, then the first."""
        share = [load / capacity for load, capacity in zip(self.load, self.capacity, strict=True)]
        return sorted(range(len(share)), key=lambda host: (share[host], -self.capacity[host], host))

    def _put(self, operator: str, host: int) -> None:
        self.places[operator] = host
        self.load[host] += self.readings.cores[operator]

    def _take(self, operator: str) -> int:
        host = self.places.pop(operator)
        self.load[host] -= self.readings.cores[operator]
        return host


@dataclass(frozen=True)
class Verdict:
    """Whether a plan is worth a move, and why. crossing_per_s: records between hosts, as they are and as planned."""

    worth: bool
    why: str
    crossing_per_s: tuple[float, float]


def judged(readings: Readings, capacity: Sequence[float], now: Mapping[str, int], plan: Mapping[str, int], improvement: float) -> Verdict:
    """improvement: share of the traffic between hosts that must be saved, unless a host has too much to do and the plan relieves it."""
    crossing = readings.crossing_per_s(now), readings.crossing_per_s(plan)
    if dict(plan) == dict(now):
        return Verdict(False, "its plan is what runs", crossing)
    before, after = (_excess(readings.loads(places, len(capacity)), capacity) for places in (now, plan))
    if before > 0 and after < before:
        return Verdict(True, f"a host has {before:.2f} cores more to do than it should, with the plan {after:.2f}", crossing)
    saved = f"traffic between hosts would go from {crossing[0]:,.0f} to {crossing[1]:,.0f} records/s"
    if crossing[0] > 0 and after <= before and crossing[1] <= (1 - improvement) * crossing[0]:
        return Verdict(True, saved, crossing)
    return Verdict(False, f"{saved}, which is not worth a move", crossing)


def _excess(loads: Sequence[float], capacity: Sequence[float]) -> float:
    """Cores above its capacity of the host that has most of them."""
    return max(0.0, *(load - most for load, most in zip(loads, capacity, strict=True)))
