"""Dhalion: scale up the cause of backpressure, scale down operators with empty queues (Floratou 2017; Siachamis 2024, 4.4.1, Eq. 4.1 and
4.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import dhalion

from .bottlenecks import bottlenecks, pending_rate
from .metrics import Metrics
from .policy import MICRO, SECOND, Advice, Value, exact, mean_of_instances, total_rate


class Dhalion:
    """Each bottleneck gets p x (1 + F) instances. For a source, F is the growth of its queue relative to its input rate (4.2); for other
    operators, the blocked time of its senders over their unblocked time (4.1). Without bottlenecks, operators with empty queues are scaled
    to four fifths. So no parallelism is stable: a healthy job shrinks until it is no longer healthy.

    A request for an operator stands until that operator is reconsidered, as in the artifact.
    """

    def __init__(self, about: dhalion.Dhalion):
        self._window_ns, self._every_ns = seconds_ns(about.metrics.window_s), seconds_ns(about.every_s)
        self._theta_per_s, self._signed = exact(about.backpressure_theta_per_s), about.pending_rate == "signed"
        self._first_only, self._by_lag = about.first_only, about.source_empty == "lag"
        self._empty_lag, self._empty_ppm = exact(about.empty_lag), exact(about.empty_fill) * MICRO
        self._keep, self._beta_max = exact(about.keep), exact(about.beta_max)
        self._wanted: dict[str, int] = {}

    def advise(self, metrics: Metrics) -> Advice:
        current = metrics.parallelism()
        self._wanted = {operator: self._wanted.get(operator, p) for operator, p in current.items()}
        slow = bottlenecks(metrics, self._window_ns, self._theta_per_s, self._signed)
        values: list[Value] = []
        if slow:
            for operator in slow[:1] if self._first_only else slow:
                factor = self._factor(metrics, operator, values)
                values.append(("factor", operator, factor))
                self._wanted[operator] = math.ceil(current[operator] * (1 + factor))
            why = "there are bottlenecks"
        else:
            empty = [operator for operator in metrics.graph().operators if self._is_empty(metrics, operator, values)]
            for operator in empty:
                self._wanted[operator] = max(1, math.floor(current[operator] * self._keep))
            why = "no bottleneck; short queues at " + ", ".join(empty) if empty else "no bottleneck, and no queue is short"
        return Advice(dict(self._wanted), values, slow, why)

    def _factor(self, metrics: Metrics, operator: str, values: list[Value]) -> Fraction:
        graph = metrics.graph()
        if operator in graph.sources:
            grown = pending_rate(metrics, operator, self._window_ns, self._signed)
            read = total_rate(metrics, operator, "records_in", self._window_ns)
            values += [("pending_rate", operator, grown), ("consumed_rate", operator, read)]
            return max(grown / max(Fraction(1), read), Fraction(0))
        senders = [sender for sender, receiver in graph.edges if receiver == operator]
        share = max(mean_of_instances(metrics, sender, "blocked_ns", self._every_ns) / SECOND for sender in senders)
        beta = min(self._beta_max, share)
        values.append(("beta", operator, beta))
        return beta / (1 - beta)

    def _is_empty(self, metrics: Metrics, operator: str, values: list[Value]) -> bool:
        if operator not in metrics.graph().sources:
            fill_ppm = mean_of_instances(metrics, operator, "fill_ppm", self._window_ns)
            values.append(("fill", operator, fill_ppm / MICRO))
            return fill_ppm <= self._empty_ppm
        waiting = Fraction(metrics.pending(operator)) if self._by_lag else pending_rate(metrics, operator, self._window_ns, self._signed)
        values.append(("lag" if self._by_lag else "pending_rate", operator, waiting))
        return waiting <= self._empty_lag

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        pass

    def state(self) -> Any:
        return dict(self._wanted)

    def restore(self, state: Any) -> None:
        self._wanted = dict(state)


policy = Dhalion
