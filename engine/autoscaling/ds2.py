"""DS2: all operators at once, from true rates (Kalavri 2018; Siachamis 2024, 4.4.2, Eq. 4.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import ds2

from .metrics import Metrics
from .policy import MICRO, SECOND, UNBOUNDED, Advice, Value, exact, known, running


class TrueRates(NamedTuple):
    """Total records per second of an operator's instances if they were never idle."""

    processing: Fraction
    output: Fraction


class DS2:
    """Propagates the rate of each topic through the graph: an operator gets the number of instances that its target rate needs at their
    true processing rate, and passes on their output rate. The backlog is ignored.

    An operator that was never busy in the window has no true rate: with input it gets the maximum number of instances, without input one.
    """

    def __init__(self, about: ds2.DS2):
        self._window_ns, self._busy_max = seconds_ns(about.metrics.window_s), exact(about.busy_max)

    def advise(self, metrics: Metrics) -> Advice:
        graph, current = metrics.graph(), metrics.parallelism()
        outputs: dict[str, Fraction] = {}
        wanted: dict[str, int] = {}
        values: list[Value] = []
        for operator in graph.operators:
            if operator in graph.sources:
                target = known(metrics.topic_rate(operator, self._window_ns), f"the topic of {operator}")
            else:
                target = sum((outputs[sender] for sender, receiver in graph.edges if receiver == operator), Fraction())
            true = self._true_rates(metrics, operator)
            needed = target / (true.processing / current[operator]) if true.processing else None if target else Fraction(0)
            outputs[operator] = true.output * needed / current[operator] if needed is not None else Fraction(0)  # no true rate: no output
            wanted[operator] = max(UNBOUNDED if needed is None else math.ceil(needed), 1)
            values += [
                ("target", operator, target),
                ("tpr", operator, true.processing),
                ("tor", operator, true.output),
                ("opt", operator, needed),
            ]
        return Advice(wanted, values)

    def _true_rates(self, metrics: Metrics, operator: str) -> TrueRates:
        processing = output = Fraction(0)
        for each in running(metrics, operator):
            busy = metrics.mean(each, "busy_ns", self._window_ns) / SECOND / self._busy_max
            rate = known(metrics.rate(each, "records_in", self._window_ns), operator)
            if busy:
                processing += rate / busy
                output += metrics.mean(each, "out_micro_per_s", self._window_ns) / MICRO / busy
        return TrueRates(processing, output)

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        pass

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        pass


policy = DS2
