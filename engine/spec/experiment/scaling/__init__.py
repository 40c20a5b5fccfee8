"""Scaling policies, one file each: what changes the parallelism of a running query (docs/autoscaling.md), implemented by
`engine.autoscaling`, and what moves its operators to other hosts (docs/relocation.md), implemented by `engine.relocation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Rearranging
from .looped import Looped
from .none import NoScaling

SCALINGS = Family("scalings", __name__, Looped, {"policy": "it returns the policy (`engine.autoscaling.policy.Policy`)"})

if TYPE_CHECKING:
    AnyScaling = NoScaling | Rearranging
else:
    AnyScaling = SCALINGS.union
