"""What an autoscaling policy is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from .metrics import Metrics, Series

Value = tuple[str, str, Fraction | None]
"""What a policy has computed on its way: name, vertex, number; None: infinite, or it does not count."""


class NoAdvice(Exception):
    """The policy cannot say anything now; its text says why."""


@dataclass(frozen=True)
class Advice:
    """What a policy wants. parallelism: of all vertices. bottlenecks: what it takes for one, in its order."""

    parallelism: dict[str, int]
    values: Sequence[Value] = ()
    bottlenecks: Sequence[str] = ()
    why: str = ""


class Policy(Protocol):
    """Says what parallelism a job should have, from metrics alone. It has no clock, no chance, and no other sight of the run."""

    def advise(self, metrics: Metrics) -> Advice:
        """What it wants now. Raises `NoAdvice`: the iteration is left out."""
        ...

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        """What it wanted was ordered, within limits; by vertex."""
        ...

    def state(self) -> Any:
        """All that it remembers, as JSON values."""
        ...

    def restore(self, state: Any) -> None: ...


SECOND = Fraction(10**9)
"""In ns: what shares of time are taken of."""

MICRO = 10**6
"""In millionths: what shares (`_ppm`) and rates (`_micro_per_s`) of readings are divided by."""

UNBOUNDED = 2**32 - 1
"""Instances: what DS2, the artifact's and the published one, makes of a rate by nothing."""


def exact(number: float) -> Fraction:
    """The decimal number that the document shows, not the binary fraction nearest to it."""
    return Fraction(str(number))


def running(metrics: Metrics, operator: str) -> Sequence[Series]:
    """The instances of a vertex that have been scraped. Raises NoAdvice if there is none."""
    found = metrics.instances(operator)
    if not found:
        raise NoAdvice(f"no instance of {operator} has been read since it started")
    return found


def known(value: Fraction | None, of: str) -> Fraction:
    """A value that is there. Raises NoAdvice."""
    if value is None:
        raise NoAdvice(f"{of} has been read only once since it started")
    return value


def total_rate(metrics: Metrics, operator: str, name: str, window_ns: int) -> Fraction:
    """Of a counter, over all instances of a vertex. Raises NoAdvice."""
    return sum((known(metrics.rate(each, name, window_ns), operator) for each in running(metrics, operator)), Fraction())


def mean_of_instances(metrics: Metrics, operator: str, name: str, window_ns: int) -> Fraction:
    """Mean over the window and over all instances of a vertex. Raises NoAdvice."""
    found = running(metrics, operator)
    return sum((metrics.mean(each, name, window_ns) for each in found), Fraction()) / len(found)
