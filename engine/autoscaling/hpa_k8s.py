"""Kubernetes' horizontal pod autoscaler on the CPU of the whole job, with its own defaults (Kubernetes, autoscaling/v2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import hpa_k8s

from .metrics import Metrics
from .policy import MICRO, Advice, NoAdvice, exact
from .replicas import Replicas, instances_mean, told
from .stabilising import Stabiliser


class HPAK8s:
    """All operators get as many instances as the deployment has replicas: the number that brings the mean CPU load of its pods to the
    target."""

    def __init__(self, about: hpa_k8s.HPAK8s):
        self._window_ns, self._target = seconds_ns(about.metrics.window_s), exact(about.target)
        self._replicas = Replicas(about, Stabiliser(seconds_ns(about.stabilise_s)))

    def advise(self, metrics: Metrics) -> Advice:
        load_ppm = instances_mean(metrics, "cpu_ppm", self._window_ns)
        if load_ppm is None:
            raise NoAdvice("no instance has been scraped since the job started")
        ratio = load_ppm / MICRO / self._target
        wanted = self._replicas.wanted(metrics, [ratio])
        return told(metrics, wanted, r=ratio)

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        pass

    def state(self) -> Any:
        return self._replicas.state()

    def restore(self, state: Any) -> None:
        self._replicas.restore(state)


policy = HPAK8s
