"""Scheduling policies, one file each: which queries run next on the cores of a host (docs/scheduling.md). `engine.scheduling` implements
them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Scheduling
from .default import FairThreads
from .none import NoScheduling
from .switched import SwitchedScheduling

SCHEDULINGS = Family("schedulings", __name__, Scheduling, {"policy": "it returns the policy (`engine.scheduling.policy.Policy`)"})

if TYPE_CHECKING:
    AnyScheduling = NoScheduling | FairThreads | SwitchedScheduling | Scheduling
else:
    AnyScheduling = SCHEDULINGS.union

SwitchedScheduling.model_rebuild(_types_namespace={"AnyScheduling": AnyScheduling})  # recursive: it contains policies
