"""Parameters of the autoscaler `hpa_cpu`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number
from .looped import Looped, stabilise_field, target_field


class HPACpu(Looped):
    """Keeps the CPU load of each operator near a target, unaware of streaming metrics."""

    title: ClassVar[str] = "HPA on CPU"
    source: ClassVar[str] = "Kubernetes; Siachamis 2024, 4.4.3, Eq. 4.4"
    position: ClassVar[int] = 6
    kind: Literal["hpa_cpu"] = "hpa_cpu"
    target: Number = target_field(0.7, "Target CPU utilisation of an instance.")
    stabilise_s: Number = stabilise_field()
