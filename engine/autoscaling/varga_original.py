"""Kubernetes' horizontal pod autoscaler on two metrics of a whole job, as used by its authors (Varga 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import varga_original

from .metrics import Metrics
from .policy import SECOND, Advice, NoAdvice, exact, known, running, total_rate
from .replicas import Replicas, instances_mean, told
from .stabilising import Stabiliser


class VargaOriginal:
    """All operators get as many instances as the deployment has replicas. One metric is the non-idle time of
    instances; the other is the incoming rate of the topics relative to the rate read, which counts while their total lag exceeds the
    threshold."""

    def __init__(self, about: varga_original.VargaOriginal):
        self._window_ns, self._slope_ns = seconds_ns(about.metrics.window_s), seconds_ns(about.slope_s)
        self._target, self._lag_threshold = exact(about.target), about.lag_threshold
        self._replicas = Replicas(about, Stabiliser(seconds_ns(about.stabilise_s)))

    def advise(self, metrics: Metrics) -> Advice:
        idle_ns = instances_mean(metrics, "idle_ns", self._window_ns)
        if idle_ns is None:
            raise NoAdvice("no instance has been scraped since the job started")
        util, rel = 1 - idle_ns / SECOND, self._relative_rate(metrics)
        wanted = self._replicas.wanted(metrics, [util / self._target, *([] if rel is None else [rel])])
        return told(metrics, wanted, util=util, rel=rel)

    def _relative_rate(self, metrics: Metrics) -> Fraction | None:
        """Return the incoming rate relative to the rate read; None if the lag is below the threshold."""
        sources = metrics.graph().sources
        if sum(map(metrics.pending, sources)) <= self._lag_threshold:
            return None
        read = sum((total_rate(metrics, source, "records_in", self._window_ns) for source in sources), Fraction())
        growth = sum(
            (known(metrics.slope(each, "pending", self._slope_ns), source) for source in sources for each in running(metrics, source)),
            Fraction(),
        )
        return 1 + growth / max(Fraction(1), read)

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        pass

    def state(self) -> Any:
        return self._replicas.state()

    def restore(self, state: Any) -> None:
        self._replicas.restore(state)


policy = VargaOriginal
