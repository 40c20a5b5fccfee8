"""Autoscaling policies (docs/autoscaling.md): each a file that knows metrics alone, over one loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .dhalion import Dhalion
from .ds2 import DS2
from .flink import Flink
from .hpa_cpu import HPACpu
from .hpa_varga import HPAVarga
from .policy import Policy

POLICIES: Mapping[str, Callable[[Any], Policy]] = {
    "dhalion": Dhalion,
    "ds2": DS2,
    "hpa_cpu": HPACpu,
    "hpa_varga": HPAVarga,
    "flink": Flink,
}
"""By kind: what makes the policy from the document's part."""
