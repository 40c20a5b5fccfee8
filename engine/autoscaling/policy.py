"""The interface of autoscaling policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from .metrics import Metrics, Series

Value = tuple[str, str, Fraction | None]
"""An intermediate value of a policy: name, vertex, number; None: infinite or not applicable."""


class NoAdvice(Exception):
    """The policy cannot advise now; the message says why."""


@dataclass(frozen=True)
class Advice:
    """A policy's request. parallelism: of all vertices. bottlenecks: in the policy's order."""

    parallelism: dict[str, int]
    values: Sequence[Value] = ()
    bottlenecks: Sequence[str] = ()
    why: str = ""


class Policy(Protocol):
    """Decides the parallelism of a job from metrics alone, without a clock, randomness or any other view of the run."""

    def advise(self, metrics: Metrics) -> Advice:
        """Return the present request. Raises `NoAdvice` to skip the iteration."""
        ...

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        """Handle the order of its request, within limits; by vertex."""
        ...

    def state(self) -> Any:
        """Return its whole state, as JSON values."""
        ...

    def restore(self, state: Any) -> None: ...


SECOND = Fraction(10**9)
"""In ns; base of shares of time."""

MICRO = 10**6
"""Divisor of shares (`_ppm`) and rates (`_micro_per_s`) of readings."""

UNBOUNDED = 2**32 - 1
"""Number of instances that DS2, both the artifact's and the published one, requests for a division by zero."""


def exact(number: float) -> Fraction:
    """Return the exact decimal number as written in the document, not the nearest binary fraction."""
    return Fraction(str(number))


def running(metrics: Metrics, operator: str) -> Sequence[Series]:
    """Return the scraped instances of a vertex. Raises NoAdvice if there is none."""
    found = metrics.instances(operator)
    if not found:
        raise NoAdvice(f"no instance of {operator} has been scraped since it started")
    return found


def known(value: Fraction | None, of: str) -> Fraction:
    """Return the value. Raises NoAdvice if it is None."""
    if value is None:
        raise NoAdvice(f"{of} has been scraped only once since it started")
    return value


def total_rate(metrics: Metrics, operator: str, name: str, window_ns: int) -> Fraction:
    """Return the total rate of a counter over all instances of a vertex. Raises NoAdvice."""
    return sum((known(metrics.rate(each, name, window_ns), operator) for each in running(metrics, operator)), Fraction())


def mean_of_instances(metrics: Metrics, operator: str, name: str, window_ns: int) -> Fraction:
    """Return the mean over the window and all instances of a vertex. Raises NoAdvice."""
    found = running(metrics, operator)
    return sum((metrics.mean(each, name, window_ns) for each in found), Fraction()) / len(found)
