"""Parameters of Kubernetes' autoscaler, which two policies take."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ...base.units import quantity
from .base import PARALLELISM_MAX


def tolerance_field() -> Any:
    return Field(default=0.1, ge=0, lt=1, title="Tolerance", description="A ratio to the target no further from 1 changes nothing.")


def up_add_field() -> Any:
    return quantity(
        4, unit="replicas", ge=1, le=PARALLELISM_MAX, title="Up by", description="At a time, or by the factor, if that is more."
    )


def up_times_field() -> Any:
    return Field(
        default=2, ge=1, le=1000, title="Up times", description="Times the replicas at a time, or by their number, if that is more."
    )


def stabilise_down_field() -> Any:
    description = "Down to the greatest number of replicas wished within this span; up at once."
    return quantity(300, unit="s", ge=0, le=1e8, title="Stabilisation", description=description)
