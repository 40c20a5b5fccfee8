"""Delay distributions, one file each: how long records take to reach the log. `engine.workloads.delays` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Delay
from .switched import SwitchedDelay

DISORDERS = Family("disorders", __name__, Delay, {"delays": "it returns the delays of records (`engine.workloads.delays.Delays`)"})

if TYPE_CHECKING:
    AnyDelay = Delay
else:
    AnyDelay = DISORDERS.union

SwitchedDelay.model_rebuild(_types_namespace={"AnyDelay": AnyDelay})  # recursive: it contains laws
