"""Dhalion as in Heron's health manager: one component at a time, upwards only (Floratou 2017)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import dhalion_heron

from .bottlenecks import blocked_vertices
from .metrics import Metrics
from .policy import SECOND, Advice, exact, running


class DhalionHeron:
    """The first operator that blocks its senders, without being blocked itself, gets p x (1 + F) instances, where F is the blocked time of
    the senders over their unblocked time.

    As there, the blocked time is summed over all instances of a sender and divided by one second. So several partly blocked instances soon
    reach the maximum factor. Sources have no senders, so they keep their parallelism.
    """

    def __init__(self, about: dhalion_heron.DhalionHeron):
        self._window_ns, self._factor_max = seconds_ns(about.every_s), exact(about.factor_max)

    def advise(self, metrics: Metrics) -> Advice:
        graph, wanted = metrics.graph(), dict(metrics.parallelism())
        blocked = blocked_vertices(metrics, self._window_ns)
        slow = list(dict.fromkeys(receiver for sender, receiver in graph.edges if sender in blocked and receiver not in blocked))
        if not slow:
            return Advice(wanted, why="no operator blocks its senders")
        operator = slow[0]
        share = max(self._blocked(metrics, sender) for sender, receiver in graph.edges if receiver == operator)
        factor = min(share / (1 - share), self._factor_max) if share < 1 else self._factor_max
        wanted[operator] = math.ceil(wanted[operator] * (1 + factor))
        return Advice(wanted, [("beta", operator, share), ("factor", operator, factor)], slow, f"{operator} blocks its senders")

    def _blocked(self, metrics: Metrics, sender: str) -> Fraction:
        """Return the blocked seconds per second, summed over all its instances."""
        return sum((metrics.mean(each, "blocked_ns", self._window_ns) for each in running(metrics, sender)), Fraction()) / SECOND

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        pass

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        pass


policy = DhalionHeron
