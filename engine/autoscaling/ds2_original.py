"""DS2 as published by its authors: their policy and the manager that calls it (Kalavri 2018)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import ds2_original

from .metrics import Metrics
from .policy import SECOND, UNBOUNDED, Advice, Value, exact, known, running, total_rate


class DS2Original:
    """Propagates the rate of each topic through the graph, as in DS2, but sources keep their parallelism, and output records are counted
    over the same interval as busy time. An operator gets ceil(opt x (1 + factor)) instances.

    The first intervals after a restart are ignored. A request counts only if an operator should get more instances, or at least two fewer.
    With a rate ratio: if no operator should get more instances, but sources read that much less than arrives, all requests are multiplied
    by it.
    """

    def __init__(self, about: ds2_original.DS2Original):
        self._window_ns, self._up = seconds_ns(about.every_s), 1 + exact(about.factor)
        self._warm_up, self._activation = about.warm_up, about.activation
        self._ratio_max = None if about.rate_ratio_max is None else exact(about.rate_ratio_max)
        self._since_ns = self._intervals = 0

    def advise(self, metrics: Metrics) -> Advice:
        graph, current = metrics.graph(), metrics.parallelism()
        since_ns = max(each.since_ns for operator in graph.operators for each in running(metrics, operator))
        if since_ns != self._since_ns:
            self._since_ns, self._intervals = since_ns, 0
        self._intervals += 1
        if self._intervals <= self._warm_up:
            return Advice(current, why=f"warm-up: interval {self._intervals} of {self._warm_up}")
        wanted, values = self._sized(metrics)
        if self._intervals - self._warm_up < self._activation:
            return Advice(current, values, why=f"decision {self._intervals - self._warm_up} of {self._activation}")
        if all(wanted[operator] <= p for operator, p in current.items()):
            wanted = self._corrected(metrics, wanted, values)
        if not any(wanted[operator] > p or wanted[operator] < p - 1 for operator, p in current.items()):
            return Advice(current, values, why="no operator should get more instances, or two fewer")
        return Advice(wanted, values)

    def _sized(self, metrics: Metrics) -> tuple[dict[str, int], list[Value]]:
        graph, wanted = metrics.graph(), dict(metrics.parallelism())
        outputs: dict[str, Fraction] = {}
        values: list[Value] = []
        for operator in graph.operators:
            processing, output = self._true_rates(metrics, operator)
            if operator in graph.sources:
                target = known(metrics.topic_rate(operator, self._window_ns), f"the topic of {operator}")
                outputs[operator] = output * target / processing if processing else target
                values.append(("target", operator, target))
                continue
            target = sum((outputs[sender] for sender, receiver in graph.edges if receiver == operator), Fraction())
            needed = target / (processing / wanted[operator]) if processing else None if target else Fraction(0)
            outputs[operator] = output * target / processing if processing else Fraction(0)
            wanted[operator] = max(UNBOUNDED if needed is None else math.ceil(needed * self._up), 1)
            values += [("target", operator, target), ("tpr", operator, processing), ("tor", operator, output), ("opt", operator, needed)]
        return wanted, values

    def _true_rates(self, metrics: Metrics, operator: str) -> tuple[Fraction, Fraction]:
        """Return total records in and out per second of all instances if they were never idle."""
        processing = output = Fraction(0)
        for each in running(metrics, operator):
            busy = metrics.mean(each, "busy_ns", self._window_ns) / SECOND
            if busy:
                processing += known(metrics.rate(each, "records_in", self._window_ns), operator) / busy
                output += known(metrics.rate(each, "records_out", self._window_ns), operator) / busy
        return processing, output

    def _corrected(self, metrics: Metrics, wanted: dict[str, int], values: list[Value]) -> dict[str, int]:
        ratios = [Fraction(0)]
        for source in metrics.graph().sources:
            read = total_rate(metrics, source, "records_in", self._window_ns)
            if read:
                ratios.append(known(metrics.topic_rate(source, self._window_ns), f"the topic of {source}") / read)
                values.append(("rate_ratio", source, ratios[-1]))
        ratio = max(ratios)
        if self._ratio_max is None or ratio <= self._ratio_max:
            return wanted
        return {operator: p if operator in metrics.graph().sources else math.ceil(p * ratio) for operator, p in wanted.items()}

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        self._intervals = 0

    def state(self) -> Any:
        return [self._since_ns, self._intervals]

    def restore(self, state: Any) -> None:
        self._since_ns, self._intervals = state


policy = DS2Original
