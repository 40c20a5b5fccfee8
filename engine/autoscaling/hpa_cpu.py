"""Kubernetes' horizontal pod autoscaler on CPU, per operator (Siachamis 2024, 4.4.3, Eq. 4.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import hpa_cpu

from .metrics import Metrics
from .policy import MICRO, Advice, Value, exact, mean_of_instances
from .stabilising import Stabiliser


class HPACpu:
    """Requests parallelism times mean CPU load over target, rounded up; the largest request of the last five minutes counts. An operator
    without readings keeps its parallelism."""

    def __init__(self, about: hpa_cpu.HPACpu):
        self._window_ns, self._target = seconds_ns(about.metrics.window_s), exact(about.target)
        self._stabiliser = Stabiliser(seconds_ns(about.stabilise_s))

    def advise(self, metrics: Metrics) -> Advice:
        wanted = dict(metrics.parallelism())
        values: list[Value] = []
        for operator, p in list(wanted.items()):
            if not metrics.instances(operator):
                values.append(("r", operator, None))
                continue
            ratio = mean_of_instances(metrics, operator, "cpu_ppm", self._window_ns) / MICRO / self._target
            wanted[operator] = self._stabiliser.wish(operator, max(1, math.ceil(p * ratio)), metrics.now_ns)
            values += [("r", operator, ratio), ("window", operator, Fraction(wanted[operator]))]
        return Advice(wanted, values)

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        pass

    def state(self) -> Any:
        return self._stabiliser.state()

    def restore(self, state: Any) -> None:
        self._stabiliser.restore(state)


policy = HPACpu
