"""Replicas of one deployment as set by Kubernetes' horizontal pod autoscaler, from ratios of metrics to their targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from engine.spec.experiment.scaling import hpa_k8s, varga_original

from .metrics import Metrics
from .policy import Advice, exact
from .stabilising import Stabiliser

JOB = "job"


class Replicas:
    """One number of replicas for a whole job: a replica has an instance of each operator.

    The metric that requests the most replicas decides; a metric within the tolerance of its target requests the present number.
    Scaling up is immediate, limited by a number and a factor per step; scaling down goes to the largest recent request. The initial number
    counts as a request.
    """

    def __init__(self, about: hpa_k8s.HPAK8s | varga_original.VargaOriginal, stabiliser: Stabiliser):
        self._tolerance, self._workers_max = exact(about.tolerance), about.workers_max
        self._up_add, self._up_times = about.up_add, exact(about.up_times)
        self._stabiliser, self._begun = stabiliser, False

    def wanted(self, metrics: Metrics, ratios: Sequence[Fraction]) -> int:
        """Return the number of replicas to request. ratios: of at least one metric to its target."""
        now = max(metrics.parallelism().values())
        if not self._begun:
            self._begun = True
            self._stabiliser.wish(JOB, now, metrics.now_ns)
        most = max(1, self._workers_max // len(metrics.graph().operators))
        wish = min(max(1, *(now if abs(ratio - 1) <= self._tolerance else math.ceil(now * ratio) for ratio in ratios)), most)
        greatest = self._stabiliser.wish(JOB, wish, metrics.now_ns)
        if wish > now:
            return min(wish, max(now + self._up_add, math.floor(now * self._up_times)))
        return min(now, greatest)

    def state(self) -> Any:
        return [self._begun, self._stabiliser.state()]

    def restore(self, state: Any) -> None:
        self._begun = state[0]
        self._stabiliser.restore(state[1])


def told(metrics: Metrics, wanted: int, **values: Fraction | None) -> Advice:
    """Return the same parallelism for each vertex, with the values it was computed from."""
    vertices = metrics.parallelism()
    each = [*values.items(), ("window", Fraction(wanted))]
    return Advice(dict.fromkeys(vertices, wanted), [(name, vertex, value) for vertex in vertices for name, value in each])


def instances_mean(metrics: Metrics, name: str, window_ns: int) -> Fraction | None:
    """Return the mean over the window and all scraped instances of the job; None if there is none."""
    found = [metrics.mean(each, name, window_ns) for operator in metrics.graph().operators for each in metrics.instances(operator)]
    return sum(found, Fraction()) / len(found) if found else None
