"""Scaling policies, one file each: what changes the parallelism of a running query (docs/autoscaling.md). `engine.autoscaling`
implements them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Scaling
from .looped import Looped
from .none import NoScaling

SCALINGS = Family("scalings", __name__, Looped, {"policy": "it returns the policy (`engine.autoscaling.policy.Policy`)"})

if TYPE_CHECKING:
    AnyScaling = NoScaling | Scaling
else:
    AnyScaling = SCALINGS.union
