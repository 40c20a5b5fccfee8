"""A horizontal pod autoscaler on two streaming metrics (Varga 2021; Siachamis 2024, 4.4.4, Eq. 4.5 and 4.6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import hpa_varga

from .bottlenecks import bottlenecks
from .metrics import Graph, Metrics
from .policy import SECOND, Advice, Value, exact, known, mean_of_instances, running, total_rate
from .stabilising import Stabiliser


class HPAVarga:
    """Requests the larger of two values: one that brings utilisation (where blocked time counts as used) to the target and, for
    bottlenecks, one that raises the input rate by the growth of the queues before them. The largest request of the last five minutes
    counts."""

    def __init__(self, about: hpa_varga.HPAVarga):
        self._window_ns, self._slope_ns = seconds_ns(about.metrics.window_s), seconds_ns(about.slope_s)
        self._target, self._theta_per_s = exact(about.target), exact(about.backpressure_theta_per_s)
        self._signed, self._lag_threshold = about.pending_rate == "signed", about.lag_threshold
        self._stabiliser = Stabiliser(seconds_ns(about.stabilise_s))

    def advise(self, metrics: Metrics) -> Advice:
        graph, wanted = metrics.graph(), dict(metrics.parallelism())
        slow = bottlenecks(metrics, self._window_ns, self._theta_per_s, self._signed)
        values: list[Value] = []
        for operator in graph.operators:
            util = 1 - mean_of_instances(metrics, operator, "idle_ns", self._window_ns) / SECOND
            rel = self._relative_rate(metrics, sources_of(graph, operator)) if operator in slow else None
            factor = util / self._target if rel is None else max(util / self._target, rel)
            wanted[operator] = self._stabiliser.wish(operator, max(1, math.ceil(wanted[operator] * factor)), metrics.now_ns)
            values += [("util", operator, util), ("rel", operator, rel), ("window", operator, Fraction(wanted[operator]))]
        return Advice(wanted, values, slow)

    def _relative_rate(self, metrics: Metrics, sources: list[str]) -> Fraction | None:
        """Return the incoming rate of these topics relative to the rate read; None while their queues are too short to count."""
        if self._lag_threshold is not None and sum(map(metrics.pending, sources)) < self._lag_threshold:
            return None
        growth = consumed = Fraction(0)
        for source in sources:
            consumed += total_rate(metrics, source, "records_in", self._window_ns)
            for each in running(metrics, source):
                growth += known(metrics.slope(each, "pending", self._slope_ns), source)
        return 1 + growth / max(Fraction(1), consumed)

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        pass

    def state(self) -> Any:
        return self._stabiliser.state()

    def restore(self, state: Any) -> None:
        self._stabiliser.restore(state)


def sources_of(graph: Graph, operator: str) -> list[str]:
    """Return the sources upstream of an operator; for a source, itself."""
    above = {operator}
    for sender in reversed(graph.operators):
        if any(source == sender and receiver in above for source, receiver in graph.edges):
            above.add(sender)
    return [source for source in graph.sources if source in above]


policy = HPAVarga
