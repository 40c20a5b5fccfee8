"""Parameters of the autoscaler `hpa_k8s`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Integer, Number
from .looped import Looped, free_step_field, quiet_field, target_field
from .replicas import stabilise_down_field, tolerance_field, up_add_field, up_times_field


class HPAK8s(Looped):
    """Kubernetes' Horizontal Pod Autoscaler, unmodified: one replica count by CPU, each replica with an instance of every operator."""

    title: ClassVar[str] = "HPA, Kubernetes"
    source: ClassVar[str] = "Kubernetes, autoscaling/v2"
    position: ClassVar[int] = 11
    kind: Literal["hpa_k8s"] = "hpa_k8s"
    cooldown_s: Number = quiet_field(0)
    step_max: Integer | None = free_step_field()
    target: Number = target_field(0.7, "Target CPU utilisation of an instance.")
    tolerance: Number = tolerance_field()
    up_add: Integer = up_add_field()
    up_times: Number = up_times_field()
    stabilise_s: Number = stabilise_down_field()
