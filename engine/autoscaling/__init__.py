"""Autoscaling policies (docs/autoscaling.md): each a file that knows metrics alone, over one loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .dhalion import Dhalion
from .dhalion_heron import DhalionHeron
from .ds2 import DS2
from .ds2_original import DS2Original
from .flink import Flink
from .hpa_cpu import HPACpu
from .hpa_k8s import HPAK8s
from .hpa_varga import HPAVarga
from .policy import Policy
from .varga_original import VargaOriginal

POLICIES: Mapping[str, Callable[[Any], Policy]] = {
    "dhalion": Dhalion,
    "ds2": DS2,
    "hpa_cpu": HPACpu,
    "hpa_varga": HPAVarga,
    "flink": Flink,
    "dhalion_heron": DhalionHeron,
    "ds2_original": DS2Original,
    "hpa_k8s": HPAK8s,
    "varga_original": VargaOriginal,
}
"""By kind: what makes the policy from the document's part."""
