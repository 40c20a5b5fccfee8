"""Warm-ups, one file each: how much slower an instance is at first, given by the properties of its class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import WarmUp

WARMUPS = Family("warmups", __name__, WarmUp, {"extra": "it returns the initial factor minus 1, in units of 2^-16"})

if TYPE_CHECKING:
    AnyWarmUp = WarmUp
else:
    AnyWarmUp = WARMUPS.union
