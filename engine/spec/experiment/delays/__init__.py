"""Delay distributions, one file each: how long records take to reach the log. `engine.workloads.delays` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Delay

DISORDERS = Family("disorders", __name__, Delay, {"delays": "it returns the delays by record number (`engine.workloads.delays.Delays`)"})

if TYPE_CHECKING:
    AnyDelay = Delay
else:
    AnyDelay = DISORDERS.union
