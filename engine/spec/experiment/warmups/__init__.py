"""Warm-ups, a file each: how much slower an instance is at first. Each says it by its properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import WarmUp

WARMUPS = Family("warmups", __name__, WarmUp, {"extra": "it returns what the factor at the start adds to 1, in units of 2^-16"})

if TYPE_CHECKING:
    AnyWarmUp = WarmUp
else:
    AnyWarmUp = WARMUPS.union
