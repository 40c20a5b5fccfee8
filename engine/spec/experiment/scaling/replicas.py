"""Parameters of Kubernetes' autoscaler, shared by two policies."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ...base.units import quantity
from .base import PARALLELISM_MAX


def tolerance_field() -> Any:
    return Field(
        default=0.1, ge=0, lt=1, title="Tolerance", description="Largest deviation of the ratio to the target from 1 that changes nothing."
    )


def up_add_field() -> Any:
    return quantity(
        4,
        unit="replicas",
        ge=1,
        le=PARALLELISM_MAX,
        title="Up by",
        description="Replicas that may be added at a time, or the multiple below if that is more.",
    )


def up_times_field() -> Any:
    return Field(
        default=2,
        ge=1,
        le=1000,
        title="Up times",
        description="Multiple of the replicas reachable at a time, or the number above if that is more.",
    )


def stabilise_down_field() -> Any:
    description = "Scale down to the highest number of replicas desired within this span; scale up at once."
    return quantity(300, unit="s", ge=0, le=1e8, title="Stabilisation", description=description)
